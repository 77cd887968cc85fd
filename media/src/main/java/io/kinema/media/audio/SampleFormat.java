package io.kinema.media.audio;

import io.kinema.media.BadMediaException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import org.bytedeco.ffmpeg.avutil.AVFrame;
import org.bytedeco.ffmpeg.global.avutil;

/** How decoded samples lie in memory, and their way to float: integers over their largest magnitude, a power of two. */
enum SampleFormat {
    U8, S16, S32, FLT, DBL;

    static SampleFormat of(AVFrame frame, Path file) {
        return switch (frame.format()) {
            case avutil.AV_SAMPLE_FMT_U8, avutil.AV_SAMPLE_FMT_U8P -> U8;
            case avutil.AV_SAMPLE_FMT_S16, avutil.AV_SAMPLE_FMT_S16P -> S16;
            case avutil.AV_SAMPLE_FMT_S32, avutil.AV_SAMPLE_FMT_S32P -> S32;
            case avutil.AV_SAMPLE_FMT_FLT, avutil.AV_SAMPLE_FMT_FLTP -> FLT;
            case avutil.AV_SAMPLE_FMT_DBL, avutil.AV_SAMPLE_FMT_DBLP -> DBL;
            default -> throw new BadMediaException("The sound of '" + file + "' has samples of a format that is not supported; "
                    + "convert it to 16-bit WAV.");
        };
    }

    /** Copies one channel of a frame to {@code target}, beginning at {@code at}. */
    void copy(AVFrame frame, int channel, float[] target, int at) {
        boolean planar = avutil.av_sample_fmt_is_planar(frame.format()) != 0;
        int step = planar ? 1 : frame.ch_layout().nb_channels();
        int first = planar ? 0 : channel;
        int bytes = avutil.av_get_bytes_per_sample(frame.format());
        ByteBuffer plane = frame.extended_data(planar ? channel : 0).capacity((long) bytes * step * frame.nb_samples()).asByteBuffer()
                .order(ByteOrder.nativeOrder());
        for (int i = 0; i < frame.nb_samples(); i++) {
            target[at + i] = at(plane, (first + i * step) * bytes);
        }
    }

    private float at(ByteBuffer plane, int position) {
        return switch (this) {
            case U8 -> ((plane.get(position) & 0xff) - 128) / 128f;
            case S16 -> plane.getShort(position) / 32768f;
            case S32 -> plane.getInt(position) / 2147483648f;
            case FLT -> plane.getFloat(position);
            case DBL -> (float) plane.getDouble(position);
        };
    }
}
