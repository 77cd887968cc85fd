package io.kinema.media.ffmpeg;

import java.io.IOException;
import java.nio.channels.SeekableByteChannel;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import org.bytedeco.ffmpeg.avcodec.AVPacket;
import org.bytedeco.ffmpeg.avformat.AVFormatContext;
import org.bytedeco.ffmpeg.avformat.AVInputFormat;
import org.bytedeco.ffmpeg.avformat.AVStream;
import org.bytedeco.ffmpeg.avutil.AVDictionary;
import org.bytedeco.ffmpeg.global.avcodec;
import org.bytedeco.ffmpeg.global.avformat;
import org.bytedeco.ffmpeg.global.avutil;
import org.bytedeco.javacpp.BytePointer;
import org.bytedeco.javacpp.PointerPointer;

/**
 * Owns a container being read from a channel; the channel stays the caller's. Closing twice is harmless.
 *
 * <p>The container format is given, not probed, the decoders are those of a list, and no protocol is allowed, so a file can
 * neither pose as a playlist nor lead to another file.
 */
public final class Demuxer implements AutoCloseable {

    private static final int MOST_STREAMS = 32;

    private final ChannelIo io;
    private final Packet packet;
    private final boolean indexesAll;
    private AVFormatContext context;

    private Demuxer(ChannelIo io, Packet packet, String format) {
        this.io = io;
        this.indexesAll = format.equals("mov");
        this.packet = packet;
    }

    /**
     * Opens a container and reads what it says of its streams.
     *
     * @param format FFmpeg's short name of the container
     * @param decoders FFmpeg's names of the decoders that may run, separated by commas
     * @param maxPixels largest picture that is decoded to learn about a stream
     */
    public static Demuxer open(String format, String decoders, long maxPixels, SeekableByteChannel channel) {
        return Handles.build(handles -> {
            Demuxer demuxer = handles.add(new Demuxer(handles.add(ChannelIo.reading(channel)), handles.add(Packet.empty()), format));
            demuxer.start(format, decoders, maxPixels);
            return demuxer;
        });
    }

    private void start(String format, String decoders, long maxPixels) {
        AVInputFormat input = FFmpeg.allocated(avformat.av_find_input_format(format), "the reader of " + format);
        context = FFmpeg.allocated(avformat.avformat_alloc_context(), "a container");
        context.pb(io.context());
        context.flags(context.flags() | AVFormatContext.AVFMT_FLAG_CUSTOM_IO);
        context.max_streams(MOST_STREAMS);
        try (Options options = new Options(Map.of("codec_whitelist", decoders, "protocol_whitelist", "none"))) {
            // A failure here frees the context and sets it to null.
            FFmpeg.check(avformat.avformat_open_input(context, (BytePointer) null, input, options.dictionary()), "opening the container");
        }
        readAboutStreams(maxPixels);
    }

    /** FFmpeg decodes some pictures for this, so it is told the limit too. */
    private void readAboutStreams(long maxPixels) {
        int streams = context.nb_streams();
        try (PointerPointer<AVDictionary> options = new PointerPointer<>(Math.max(1, streams))) {
            for (int i = 0; i < streams; i++) {
                AVDictionary dictionary = new AVDictionary(null);
                Options.set(dictionary, "max_pixels", Long.toString(maxPixels));
                options.put(i, dictionary);
            }
            try {
                FFmpeg.check(avformat.avformat_find_stream_info(context, options), "reading about the streams");
            } finally {
                // FFmpeg has put what it did not use, or nothing, in the place of each.
                for (int i = 0; i < streams; i++) {
                    AVDictionary rest = options.get(AVDictionary.class, i);
                    if (rest != null && !rest.isNull()) {
                        avutil.av_dict_free(rest);
                    }
                }
            }
        }
    }

    /** The best stream of a kind, if there is one. */
    public Optional<AVStream> stream(int mediaType) {
        int index = avformat.av_find_best_stream(context, mediaType, -1, -1, (PointerPointer<?>) null, 0);
        return index < 0 ? Optional.empty() : Optional.of(context.streams(index));
    }

    /** Leaves out the packets of all streams but one. */
    public void only(AVStream stream) {
        for (int i = 0; i < context.nb_streams(); i++) {
            if (i != stream.index()) {
                context.streams(i).discard(avcodec.AVDISCARD_ALL);
            }
        }
    }

    /** The next packet of a stream, valid until the next call; empty at the end of the file. */
    public Optional<AVPacket> next(AVStream stream) {
        while (true) {
            packet.unref();
            int result = avformat.av_read_frame(context, packet.get());
            if (result == avutil.AVERROR_EOF) {
                return Optional.empty();
            }
            FFmpeg.check(result, "reading");
            if (packet.get().stream_index() == stream.index()) {
                return Optional.of(packet.get());
            }
        }
    }

    /** Packets that the index of the container lists for a stream; 0 if it has no full index. */
    public int indexed(AVStream stream) {
        return indexesAll ? avformat.avformat_index_get_entries_count(stream) : 0;
    }

    /** The text tags of the whole file. */
    public SortedMap<String, String> tags() {
        return Options.entries(context.metadata());
    }

    /** Duration of the whole in seconds, if the container knows it. */
    public Optional<Double> seconds() {
        long duration = context.duration();
        return duration <= 0 ? Optional.empty() : Optional.of((double) duration / avutil.AV_TIME_BASE);
    }

    /** The channel's first exception, if it had one. */
    public Optional<IOException> failure() {
        return io.failure();
    }

    @Override
    public void close() {
        if (context != null) {
            avformat.avformat_close_input(context);
            context = null;
        }
        packet.close();
        io.close();
    }
}
