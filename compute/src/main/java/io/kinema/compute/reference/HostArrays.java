package io.kinema.compute.reference;

import io.kinema.compute.HalfPrecision;
import io.kinema.compute.Tensor;
import io.kinema.weights.DType;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Optional;

/** Copies tensors to row-major Java arrays and back, whole runs at a time, so that the scalar kernels work on arrays only. */
final class HostArrays {
    private static final ValueLayout.OfFloat F32 = ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfInt I32 = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfShort I16 = ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private HostArrays() {
    }

    /** All elements, widened to float. */
    static float[] floats(Tensor t) {
        float[] all = new float[Math.toIntExact(t.elements())];
        short[] halves = t.dtype() == DType.F32 ? new short[0] : new short[Runs.length(t)];
        int run = Runs.length(t);
        int[] at = {0};
        Runs.forEach(t, offset -> {
            readRun(t, offset, halves, all, at[0], run);
            at[0] += run;
        });
        return all;
    }

    /** {@link #floats}, or {@code size} times {@code otherwise} when there is no tensor. */
    static float[] floatsOr(Optional<Tensor> t, int size, float otherwise) {
        if (t.isPresent()) {
            return floats(t.get());
        }
        float[] constant = new float[size];
        Arrays.fill(constant, otherwise);
        return constant;
    }

    /** Values of a contiguous I32 vector. */
    static int[] ints(Tensor t) {
        return t.data().asSlice(0, t.elements() * Integer.BYTES).toArray(I32);
    }

    /** Writes all elements, rounded to the tensor's dtype. */
    static void store(float[] values, Tensor t) {
        short[] halves = t.dtype() == DType.F32 ? new short[0] : new short[Runs.length(t)];
        int run = Runs.length(t);
        int[] at = {0};
        Runs.forEach(t, offset -> {
            writeRun(values, at[0], run, halves, t, offset);
            at[0] += run;
        });
    }

    /** The value that {@code dtype} stores for {@code value}. */
    static float rounded(float value, DType dtype) {
        return switch (dtype) {
            case F32 -> value;
            case F16 -> HalfPrecision.fromF16(HalfPrecision.toF16(value));
            case BF16 -> HalfPrecision.fromBf16(HalfPrecision.toBf16(value));
            default -> throw new IllegalArgumentException("rounding to " + dtype + ": expected F32, F16 or BF16");
        };
    }

    private static void readRun(Tensor t, long offset, short[] halves, float[] to, int at, int run) {
        MemorySegment data = t.data();
        long from = offset * t.dtype().bytes();
        switch (t.dtype()) {
            case F32 -> MemorySegment.copy(data, F32, from, to, at, run);
            case F16 -> {
                MemorySegment.copy(data, I16, from, halves, 0, run);
                for (int i = 0; i < run; i++) {
                    to[at + i] = HalfPrecision.fromF16(halves[i]);
                }
            }
            case BF16 -> {
                MemorySegment.copy(data, I16, from, halves, 0, run);
                for (int i = 0; i < run; i++) {
                    to[at + i] = HalfPrecision.fromBf16(halves[i]);
                }
            }
            case I8 -> {
                for (int i = 0; i < run; i++) {
                    to[at + i] = data.get(ValueLayout.JAVA_BYTE, from + i);
                }
            }
            default -> throw new IllegalArgumentException("reading " + t + ": expected F32, F16, BF16 or I8");
        }
    }

    private static void writeRun(float[] from, int at, int run, short[] halves, Tensor t, long offset) {
        MemorySegment data = t.data();
        long to = offset * t.dtype().bytes();
        switch (t.dtype()) {
            case F32 -> MemorySegment.copy(from, at, data, F32, to, run);
            case F16 -> {
                for (int i = 0; i < run; i++) {
                    halves[i] = HalfPrecision.toF16(from[at + i]);
                }
                MemorySegment.copy(halves, 0, data, I16, to, run);
            }
            case BF16 -> {
                for (int i = 0; i < run; i++) {
                    halves[i] = HalfPrecision.toBf16(from[at + i]);
                }
                MemorySegment.copy(halves, 0, data, I16, to, run);
            }
            default -> throw new IllegalArgumentException("writing " + t + ": expected F32, F16 or BF16");
        }
    }
}
