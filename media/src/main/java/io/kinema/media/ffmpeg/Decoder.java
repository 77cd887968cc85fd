package io.kinema.media.ffmpeg;

import java.util.function.Consumer;
import org.bytedeco.ffmpeg.avcodec.AVCodec;
import org.bytedeco.ffmpeg.avcodec.AVCodecContext;
import org.bytedeco.ffmpeg.avcodec.AVPacket;
import org.bytedeco.ffmpeg.avutil.AVDictionary;
import org.bytedeco.ffmpeg.avutil.AVFrame;
import org.bytedeco.ffmpeg.global.avcodec;
import org.bytedeco.ffmpeg.global.avutil;

/** Owns an open decoder and the frame it fills; closing twice is harmless. */
public final class Decoder implements AutoCloseable {

    private final AVCodecContext context;
    private final Frame frame;

    private Decoder(AVCodecContext context) {
        this.context = context;
        this.frame = Frame.empty();
    }

    /**
     * Opens a decoder that runs in one thread, refuses damaged data, and allocates no picture larger than {@code maxPixels}.
     *
     * @param name FFmpeg's name of the decoder
     * @param maxPixels largest width times height
     * @param setup sets the fields of the context, such as the parameters of a stream
     */
    public static Decoder open(String name, long maxPixels, Consumer<AVCodecContext> setup) {
        FFmpeg.load();
        AVCodec codec = avcodec.avcodec_find_decoder_by_name(name);
        if (codec == null || codec.isNull()) {
            throw new IllegalStateException("This FFmpeg build has no decoder '" + name + "'.");
        }
        Decoder decoder = new Decoder(FFmpeg.allocated(avcodec.avcodec_alloc_context3(codec), "a decoder"));
        try {
            setup.accept(decoder.context);
            decoder.context.thread_count(1).max_pixels(maxPixels);
            decoder.context.err_recognition(avcodec.AV_EF_EXPLODE | avcodec.AV_EF_CRCCHECK);
            FFmpeg.check(avcodec.avcodec_open2(decoder.context, codec, (AVDictionary) null),
                    "opening the decoder " + name);
            return decoder;
        } catch (RuntimeException e) {
            decoder.close();
            throw e;
        }
    }

    /** The native context; valid until {@link #close}. */
    public AVCodecContext context() {
        return context;
    }

    /** Decodes a packet and hands on every frame that is ready; the frame is the decoder's, valid during the call only. */
    public void decode(AVPacket packet, Consumer<AVFrame> sink) {
        FFmpeg.check(avcodec.avcodec_send_packet(context, packet), "decoding");
        while (true) {
            int result = avcodec.avcodec_receive_frame(context, frame.get());
            if (result == FFmpeg.EAGAIN || result == avutil.AVERROR_EOF) {
                return;
            }
            FFmpeg.check(result, "decoding");
            try {
                sink.accept(frame.get());
            } finally {
                frame.unref();
            }
        }
    }

    /** Ends the stream and hands on the frames the decoder still held. */
    public void finish(Consumer<AVFrame> sink) {
        decode(null, sink);
    }

    @Override
    public void close() {
        frame.close();
        avcodec.avcodec_free_context(context);
    }
}
