package io.kinema.compute.testing;

import io.kinema.compute.Device;
import io.kinema.compute.HalfPrecision;
import io.kinema.compute.Tensor;
import io.kinema.weights.DType;
import io.kinema.weights.Shape;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Random;

/** Makes seeded inputs and compares results. */
public final class Values {
    private final Random random;

    public Values(long seed) {
        this.random = new Random(seed);
    }

    /** Standard normal values of a dtype. */
    public Tensor normal(DType dtype, long... dims) {
        return scaled(dtype, 1, dims);
    }

    public Tensor normal(long... dims) {
        return scaled(DType.F32, 1, dims);
    }

    public Tensor scaled(DType dtype, double deviation, long... dims) {
        Tensor t = empty(dtype, dims);
        for (long i = 0; i < t.elements(); i++) {
            float value = (float) (random.nextGaussian() * deviation);
            switch (dtype) {
                case F32 -> t.data().set(ValueLayout.JAVA_FLOAT, i * 4, value);
                case F64 -> t.data().set(ValueLayout.JAVA_DOUBLE, i * 8, random.nextGaussian() * deviation);
                case F16 -> t.data().set(ValueLayout.JAVA_SHORT, i * 2, HalfPrecision.toF16(value));
                case BF16 -> t.data().set(ValueLayout.JAVA_SHORT, i * 2, HalfPrecision.toBf16(value));
                default -> throw new IllegalArgumentException("no random " + dtype);
            }
        }
        return t;
    }

    /** Values in [low, high). */
    public Tensor uniform(double low, double high, long... dims) {
        Tensor t = empty(DType.F32, dims);
        for (long i = 0; i < t.elements(); i++) {
            t.data().set(ValueLayout.JAVA_FLOAT, i * 4, (float) (low + (high - low) * random.nextDouble()));
        }
        return t;
    }

    /** I8, all values equally likely. */
    public Tensor integers(long... dims) {
        Tensor t = empty(DType.I8, dims);
        byte[] bytes = new byte[Math.toIntExact(t.elements())];
        random.nextBytes(bytes);
        MemorySegment.copy(bytes, 0, t.data(), ValueLayout.JAVA_BYTE, 0, bytes.length);
        return t;
    }

    /** Indices in [0, bound). */
    public Tensor index(int count, int bound) {
        return Tensor.ofInts(random.ints(count, 0, bound).toArray(), count);
    }

    /** A permutation's first {@code count} values. */
    public Tensor distinct(int count, int bound) {
        int[] all = java.util.stream.IntStream.range(0, bound).toArray();
        for (int i = bound - 1; i > 0; i--) {
            int j = random.nextInt(i + 1);
            int swap = all[i];
            all[i] = all[j];
            all[j] = swap;
        }
        return Tensor.ofInts(java.util.Arrays.copyOf(all, count), count);
    }

    /** Memory filled with NaN. */
    public static Tensor empty(DType dtype, long... dims) {
        Shape shape = Shape.of(dims);
        var data = Arena.ofAuto().allocate(Math.max(1, shape.elements() * dtype.bytes()), 64);
        data.fill((byte) 0xff);
        return Tensor.of(dtype, shape, data, Device.CPU);
    }

    public static Tensor empty(long... dims) {
        return empty(DType.F32, dims);
    }

    /** {@code ||got - expected|| / ||expected||}; NaN when a NaN is on one side only. */
    public static double relativeL2(float[] got, float[] expected) {
        double difference = 0;
        double norm = 0;
        for (int i = 0; i < expected.length; i++) {
            if (Float.floatToIntBits(got[i]) == Float.floatToIntBits(expected[i])) {
                norm += Float.isFinite(expected[i]) ? (double) expected[i] * expected[i] : 0;
                continue;
            }
            difference += ((double) got[i] - expected[i]) * ((double) got[i] - expected[i]);
            norm += (double) expected[i] * expected[i];
        }
        return difference == 0 ? 0 : Math.sqrt(difference / norm);
    }
}
