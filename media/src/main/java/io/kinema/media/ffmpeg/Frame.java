package io.kinema.media.ffmpeg;

import org.bytedeco.ffmpeg.avutil.AVFrame;
import org.bytedeco.ffmpeg.global.avutil;

/** Owns one FFmpeg frame and its samples; closing twice is harmless. */
public final class Frame implements AutoCloseable {

    private final AVFrame frame;

    private Frame() {
        FFmpeg.load();
        this.frame = FFmpeg.allocated(avutil.av_frame_alloc(), "a frame");
    }

    /** A frame without samples, for a decoder to fill. */
    public static Frame empty() {
        return new Frame();
    }

    /** A picture frame with room for its pixels. */
    public static Frame picture(int pixelFormat, int width, int height) {
        Frame owner = new Frame();
        owner.frame.format(pixelFormat).width(width).height(height);
        return owner.withBuffer();
    }

    /** A sound frame with room for {@code samples} per channel. */
    public static Frame sound(int sampleFormat, int channels, int sampleRate, int samples) {
        Frame owner = new Frame();
        owner.frame.format(sampleFormat).nb_samples(samples).sample_rate(sampleRate);
        avutil.av_channel_layout_default(owner.frame.ch_layout(), channels);
        return owner.withBuffer();
    }

    private Frame withBuffer() {
        try {
            FFmpeg.check(avutil.av_frame_get_buffer(frame, 0), "allocating a frame");
            return this;
        } catch (RuntimeException e) {
            close();
            throw e;
        }
    }

    /** The native frame; valid until {@link #close}. */
    public AVFrame get() {
        return frame;
    }

    /** The native frame with samples that nobody else holds, ready to be overwritten. */
    public AVFrame writable() {
        FFmpeg.check(avutil.av_frame_make_writable(frame), "preparing a frame");
        return frame;
    }

    /** Drops the samples and keeps the frame. */
    public void unref() {
        avutil.av_frame_unref(frame);
    }

    @Override
    public void close() {
        avutil.av_frame_free(frame);
    }
}
