package io.kinema.media.ffmpeg;

import java.util.Map;
import java.util.function.Consumer;
import org.bytedeco.ffmpeg.avcodec.AVCodec;
import org.bytedeco.ffmpeg.avcodec.AVCodecContext;
import org.bytedeco.ffmpeg.avcodec.AVPacket;
import org.bytedeco.ffmpeg.avutil.AVFrame;
import org.bytedeco.ffmpeg.global.avcodec;
import org.bytedeco.ffmpeg.global.avutil;

/** Owns an open encoder and the packet it fills; closing twice is harmless. */
public final class Encoder implements AutoCloseable {

    private final AVCodecContext context;
    private final AVPacket packet;

    private Encoder(AVCodecContext context) {
        this.context = context;
        this.packet = avcodec.av_packet_alloc();
    }

    /**
     * Opens an encoder that gives the same bytes for the same input and has one thread.
     *
     * @param name FFmpeg's name of the encoder
     * @param setup sets the fields of the context: size or sample layout, time base, rates
     * @param options private options of the encoder
     */
    public static Encoder open(String name, Consumer<AVCodecContext> setup, Map<String, String> options) {
        FFmpeg.load();
        AVCodec codec = avcodec.avcodec_find_encoder_by_name(name);
        if (codec == null || codec.isNull()) {
            throw new IllegalStateException("This FFmpeg build has no encoder '" + name + "'.");
        }
        Encoder encoder = new Encoder(FFmpeg.allocated(avcodec.avcodec_alloc_context3(codec), "an encoder"));
        try (Options dictionary = new Options(options)) {
            encoder.context.thread_count(1);
            encoder.context.flags(encoder.context.flags() | avcodec.AV_CODEC_FLAG_BITEXACT | avcodec.AV_CODEC_FLAG_GLOBAL_HEADER);
            setup.accept(encoder.context);
            FFmpeg.check(avcodec.avcodec_open2(encoder.context, codec, dictionary.dictionary()), "opening the encoder " + name);
            dictionary.requireAllUsed(name);
            return encoder;
        } catch (RuntimeException e) {
            encoder.close();
            throw e;
        }
    }

    /** The native context; valid until {@link #close}. */
    public AVCodecContext context() {
        return context;
    }

    /** Encodes a frame and hands on every packet that is ready; the packet is the encoder's, valid during the call only. */
    public void encode(AVFrame frame, Consumer<AVPacket> sink) {
        FFmpeg.check(avcodec.avcodec_send_frame(context, frame), "encoding a frame");
        drain(sink);
    }

    /** Ends the stream and hands on the packets the encoder still held. */
    public void finish(Consumer<AVPacket> sink) {
        encode(null, sink);
    }

    private void drain(Consumer<AVPacket> sink) {
        while (true) {
            int result = avcodec.avcodec_receive_packet(context, packet);
            if (result == FFmpeg.EAGAIN || result == avutil.AVERROR_EOF) {
                return;
            }
            FFmpeg.check(result, "encoding a frame");
            try {
                sink.accept(packet);
            } finally {
                avcodec.av_packet_unref(packet);
            }
        }
    }

    @Override
    public void close() {
        avcodec.av_packet_free(packet);
        avcodec.avcodec_free_context(context);
    }
}
