package io.kinema.model.video;

import io.kinema.compute.Backend;
import io.kinema.compute.Device;
import io.kinema.compute.Tensor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * The VAE's pixel convention: RGB in [0, 1], minus ImageNet's mean, over its deviation. All arithmetic is FP32 with one
 * rounding per operation; bytes are rounded half to even.
 */
public final class ImageNetPixels {
    private static final ValueLayout.OfFloat F32 = ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final float[] MEAN = {0.485f, 0.456f, 0.406f};
    private static final float[] STD = {0.229f, 0.224f, 0.225f};
    private static final int CHANNELS = 3;
    /** Adding and subtracting 1.5 * 2^23 rounds a float of magnitude below 2^22 half to even. */
    private static final float ROUNDER = 0x1.8p23f;
    private static final int MAGNITUDE_BITS = 0x7fffffff;
    private static final int INFINITE_BITS = 0x7f800000;

    private ImageNetPixels() {
    }

    /** {@code (level / 255 - mean) / std} of a byte in channel 0 (red), 1 or 2. */
    public static float normalise(int level, int channel) {
        return (level / 255f - MEAN[channel]) / STD[channel];
    }

    /** {@code clamp(x * std + mean, 0, 1)}. */
    public static float unit(float x, int channel) {
        return unit(x, STD[channel], MEAN[channel]);
    }

    /** {@code 255 * clamp(x * std + mean, 0, 1)} rounded half to even; NaN gives 0. */
    public static int level(float x, int channel) {
        return level(x, STD[channel], MEAN[channel]);
    }

    /** Minima and maxima instead of a clamp, and no branch: loops over this become vector code. */
    private static float unit(float x, float std, float mean) {
        return Math.min(Math.max(x * std + mean, 0f), 1f);
    }

    private static int level(float x, float std, float mean) {
        return (int) ((unit(x, std, mean) * 255f + ROUNDER) - ROUNDER);
    }

    /**
     * Normalises one picture.
     *
     * @param rgb   bytes (row, column, RGB)
     * @param frame host FP32 [3, height, width] with contiguous planes; written whole
     */
    public static void normalise(byte[] rgb, Tensor frame) {
        int plane = plane(frame);
        requireLength(rgb, plane);
        float[] table = new float[256];
        float[] values = new float[plane];
        for (int c = 0; c < CHANNELS; c++) {
            for (int level = 0; level < table.length; level++) {
                table[level] = normalise(level, c);
            }
            for (int i = 0; i < plane; i++) {
                values[i] = table[Byte.toUnsignedInt(rgb[i * CHANNELS + c])];
            }
            MemorySegment.copy(values, 0, frame.data(), F32, c * frame.stride(0) * Float.BYTES, plane);
        }
    }

    /**
     * Turns one decoded picture into bytes.
     *
     * @param frame host FP32 [3, height, width] with contiguous planes
     * @param rgb   bytes (row, column, RGB); written whole
     * @return false when a value was NaN or infinite, which its byte would hide
     */
    public static boolean toBytes(Tensor frame, byte[] rgb) {
        int plane = plane(frame);
        requireLength(rgb, plane);
        int width = frame.size(2);
        float[] values = new float[width];
        int[][] levels = new int[CHANNELS][width];
        int largest = 0;
        for (int row = 0; row < frame.size(1); row++) {
            for (int c = 0; c < CHANNELS; c++) {
                MemorySegment.copy(frame.data(), F32, (c * frame.stride(0) + (long) row * width) * Float.BYTES, values, 0, width);
                levels(values, STD[c], MEAN[c], levels[c]);
                largest = Math.max(largest, largestMagnitudeBits(values));
            }
            interleave(levels[0], levels[1], levels[2], rgb, row * width * CHANNELS);
        }
        return largest < INFINITE_BITS;
    }

    /**
     * Turns decoded pictures into bytes on their device; the same bytes.
     *
     * @param frames    FP32 [3, n, height, width] with contiguous planes
     * @param levels    U8 [n, height, width, 3]; written whole
     * @param notFinite I32 [n]: values of each picture that were NaN or infinite
     */
    static void levels(Backend backend, Tensor frames, Tensor levels, Tensor notFinite) {
        backend.levels(frames, STD, MEAN, levels, notFinite);
    }

    /** Magnitudes of floats are ordered as their bits are, infinity and NaN last. */
    private static int largestMagnitudeBits(float[] values) {
        int largest = 0;
        for (float v : values) {
            largest = Math.max(largest, Float.floatToRawIntBits(v) & MAGNITUDE_BITS);
        }
        return largest;
    }

    private static void levels(float[] values, float std, float mean, int[] levels) {
        for (int i = 0; i < levels.length; i++) {
            levels[i] = level(values[i], std, mean);
        }
    }

    private static void interleave(int[] red, int[] green, int[] blue, byte[] rgb, int at) {
        for (int i = 0; i < red.length; i++) {
            rgb[at + 3 * i] = (byte) red[i];
            rgb[at + 3 * i + 1] = (byte) green[i];
            rgb[at + 3 * i + 2] = (byte) blue[i];
        }
    }

    /** Pictures of one size held as bytes (row, column, RGB), to be encoded. @param frames reads picture i */
    public static FrameSource source(Backend backend, int count, int height, int width, java.util.function.IntFunction<byte[]> frames) {
        return new RgbFrameSource(backend, count, height, width, frames);
    }

    private static int plane(Tensor frame) {
        boolean host = frame.device().kind() == Device.Kind.CPU;
        if (!host || frame.rank() != 3 || frame.size(0) != CHANNELS || !frame.select(0, 0).contiguous()) {
            throw new IllegalArgumentException("pixels: got " + frame + ", expected a host tensor [3, height, width] with contiguous planes");
        }
        return Math.multiplyExact(frame.size(1), frame.size(2));
    }

    private static void requireLength(byte[] rgb, int plane) {
        if (rgb.length != plane * CHANNELS) {
            throw new IllegalArgumentException("pixels: got " + rgb.length + " bytes, expected " + plane * CHANNELS);
        }
    }
}
