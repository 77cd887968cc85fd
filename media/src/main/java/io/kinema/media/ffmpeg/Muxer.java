package io.kinema.media.ffmpeg;

import java.io.IOException;
import java.nio.channels.SeekableByteChannel;
import java.util.Map;
import java.util.Optional;
import org.bytedeco.ffmpeg.avcodec.AVPacket;
import org.bytedeco.ffmpeg.avformat.AVFormatContext;
import org.bytedeco.ffmpeg.avformat.AVStream;
import org.bytedeco.ffmpeg.avutil.AVDictionary;
import org.bytedeco.ffmpeg.global.avcodec;
import org.bytedeco.ffmpeg.global.avformat;

/** Owns a container being written to a channel; the channel stays the caller's. Closing twice is harmless. */
public final class Muxer implements AutoCloseable {

    private final ChannelIo io;
    private final AVFormatContext context = new AVFormatContext(null);

    private Muxer(ChannelIo io) {
        this.io = io;
    }

    /**
     * Opens a container whose bytes depend on its contents only (no clock, no version).
     *
     * @param format FFmpeg's short name of the container
     */
    public static Muxer open(String format, SeekableByteChannel channel, Map<String, String> metadata) {
        Muxer muxer = new Muxer(ChannelIo.writing(channel));
        try {
            FFmpeg.check(avformat.avformat_alloc_output_context2(muxer.context, null, format, null), "opening the " + format + " writer");
            muxer.context.pb(muxer.io.context());
            muxer.context.flags(muxer.context.flags() | AVFormatContext.AVFMT_FLAG_BITEXACT | AVFormatContext.AVFMT_FLAG_CUSTOM_IO);
            // Streams may be written one after the other: hold packets back until they can be interleaved, however far apart.
            muxer.context.max_interleave_delta(0);
            AVDictionary dictionary = new AVDictionary(null);
            metadata.forEach((key, value) -> Options.set(dictionary, key, value));
            muxer.context.metadata(dictionary);
            return muxer;
        } catch (RuntimeException e) {
            muxer.close();
            throw e;
        }
    }

    /** Adds a stream that carries what {@code encoder} makes; before {@link #start}. */
    public AVStream addStream(Encoder encoder) {
        AVStream stream = FFmpeg.allocated(avformat.avformat_new_stream(context, null), "a stream");
        FFmpeg.check(avcodec.avcodec_parameters_from_context(stream.codecpar(), encoder.context()), "describing a stream");
        stream.time_base(encoder.context().time_base());
        return stream;
    }

    /** Writes the header. */
    public void start(Map<String, String> options) {
        try (Options dictionary = new Options(options)) {
            FFmpeg.check(avformat.avformat_write_header(context, dictionary.dictionary()), "writing the header");
            dictionary.requireAllUsed("the container");
        }
    }

    /** Takes a packet over, its times counted in the encoder's time base. */
    public void write(AVPacket packet, Encoder encoder, AVStream stream) {
        avcodec.av_packet_rescale_ts(packet, encoder.context().time_base(), stream.time_base());
        packet.stream_index(stream.index());
        FFmpeg.check(avformat.av_interleaved_write_frame(context, packet), "writing a packet");
    }

    /** Writes what is held back and the index. */
    public void finish() {
        FFmpeg.check(avformat.av_write_trailer(context), "writing the index");
        avformat.avio_flush(io.context());
    }

    /** The channel's first exception, if it had one. */
    public Optional<IOException> failure() {
        return io.failure();
    }

    @Override
    public void close() {
        avformat.avformat_free_context(context);
        context.setNull();
        io.close();
    }
}
