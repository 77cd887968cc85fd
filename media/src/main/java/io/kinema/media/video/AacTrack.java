package io.kinema.media.video;

import io.kinema.media.ffmpeg.Encoder;
import io.kinema.media.ffmpeg.Frame;
import io.kinema.media.ffmpeg.Handles;
import io.kinema.media.ffmpeg.Muxer;
import java.util.Map;
import org.bytedeco.ffmpeg.avcodec.AVCodecContext;
import org.bytedeco.ffmpeg.avformat.AVStream;
import org.bytedeco.ffmpeg.avutil.AVFrame;
import org.bytedeco.ffmpeg.global.avutil;
import org.bytedeco.javacpp.FloatPointer;

/** Owns the sound stream of an MP4: stereo float samples in, AAC-LC at 192 kbit/s out; closing twice is harmless. */
final class AacTrack implements AutoCloseable {

    private static final int CHANNELS = 2;
    private static final long BITS_PER_SECOND = 192_000;

    private final Muxer muxer;
    private final Encoder encoder;
    private final AVStream stream;
    private final int sampleRate;
    private final float[][] block;
    private int filled;
    private long written;

    private AacTrack(Mp4Format format, Muxer muxer, Encoder encoder) {
        this.muxer = muxer;
        this.encoder = encoder;
        this.stream = muxer.addStream(encoder);
        this.sampleRate = format.sampleRate();
        this.block = new float[CHANNELS][encoder.context().frame_size()];
    }

    static AacTrack open(Muxer muxer, Mp4Format format) {
        return Handles.build(handles ->
                new AacTrack(format, muxer, handles.add(Encoder.open("aac", context -> describe(context, format), Map.of()))));
    }

    private static void describe(AVCodecContext context, Mp4Format format) {
        context.sample_rate(format.sampleRate()).sample_fmt(avutil.AV_SAMPLE_FMT_FLTP).bit_rate(BITS_PER_SECOND);
        context.time_base(avutil.av_make_q(1, format.sampleRate()));
        avutil.av_channel_layout_default(context.ch_layout(), CHANNELS);
    }

    void write(float[] left, float[] right) {
        if (left.length != right.length) {
            throw new IllegalArgumentException("Stereo sound needs two channels of one length, got " + left.length + " and "
                    + right.length + " samples.");
        }
        for (int i = 0; i < left.length; i++) {
            block[0][filled] = clamp(left[i]);
            block[1][filled] = clamp(right[i]);
            filled++;
            if (filled == block[0].length) {
                encodeBlock();
            }
        }
    }

    void finish() {
        if (filled > 0) {
            encodeBlock();
        }
        encoder.finish(packet -> muxer.write(packet, encoder, stream));
    }

    private static float clamp(float sample) {
        if (Float.isNaN(sample)) {
            throw new IllegalArgumentException("A sample of the sound is not a number.");
        }
        return Math.clamp(sample, -1f, 1f);
    }

    private void encodeBlock() {
        // The last block may be short: the encoder pads it and the container notes how much of it counts.
        try (Frame owner = Frame.sound(avutil.AV_SAMPLE_FMT_FLTP, CHANNELS, sampleRate, filled)) {
            AVFrame frame = owner.get();
            for (int channel = 0; channel < CHANNELS; channel++) {
                new FloatPointer(frame.data(channel)).put(block[channel], 0, filled);
            }
            frame.pts(written);
            encoder.encode(frame, packet -> muxer.write(packet, encoder, stream));
        }
        written += filled;
        filled = 0;
    }

    @Override
    public void close() {
        encoder.close();
    }
}
