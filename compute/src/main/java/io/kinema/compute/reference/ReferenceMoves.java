package io.kinema.compute.reference;

import io.kinema.compute.HalfPrecision;
import io.kinema.compute.MoveOps;
import io.kinema.compute.Tensor;
import io.kinema.weights.DType;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Copies element by element, in row-major order of both views. */
final class ReferenceMoves implements MoveOps {
    private static final ValueLayout.OfShort I16 = ValueLayout.JAVA_SHORT_UNALIGNED;
    private static final ValueLayout.OfFloat F32 = ValueLayout.JAVA_FLOAT_UNALIGNED;
    private static final ValueLayout.OfDouble F64 = ValueLayout.JAVA_DOUBLE_UNALIGNED;

    @Override
    public void copy(Tensor src, Tensor dst) {
        if (src.dtype() != dst.dtype() && src.dtype() != DType.F64 && dst.dtype() != DType.F64) {
            HostArrays.store(HostArrays.floats(src), dst);
            return;
        }
        long[] offsets = elementOffsets(dst);
        int[] i = {0};
        int bytes = src.dtype().bytes();
        for (long from : elementOffsets(src)) {
            long to = offsets[i[0]++];
            if (src.dtype() == dst.dtype()) {
                MemorySegment.copy(src.data(), from * bytes, dst.data(), to * bytes, bytes);
            } else {
                put(dst, to, value(src, from));
            }
        }
    }

    /** Offsets of all elements in row-major order. */
    private static long[] elementOffsets(Tensor t) {
        long[] offsets = new long[Math.toIntExact(t.elements())];
        int run = Runs.length(t);
        int[] at = {0};
        Runs.forEach(t, start -> {
            for (int i = 0; i < run; i++) {
                offsets[at[0]++] = start + i;
            }
        });
        return offsets;
    }

    private static double value(Tensor t, long offset) {
        long at = offset * t.dtype().bytes();
        return switch (t.dtype()) {
            case F64 -> t.data().get(F64, at);
            case F32 -> t.data().get(F32, at);
            case F16 -> HalfPrecision.fromF16(t.data().get(I16, at));
            case BF16 -> HalfPrecision.fromBf16(t.data().get(I16, at));
            default -> throw new IllegalArgumentException("copy: got " + t + ", expected F64, F32, F16 or BF16");
        };
    }

    private static void put(Tensor t, long offset, double value) {
        long at = offset * t.dtype().bytes();
        switch (t.dtype()) {
            case F64 -> t.data().set(F64, at, value);
            case F32 -> t.data().set(F32, at, (float) value);
            case F16 -> t.data().set(I16, at, HalfPrecision.toF16(HalfPrecision.toOddFloat(value)));
            case BF16 -> t.data().set(I16, at, HalfPrecision.toBf16(HalfPrecision.toOddFloat(value)));
            default -> throw new IllegalArgumentException("copy: got " + t + ", expected F64, F32, F16 or BF16");
        }
    }

    @Override
    public void fill(Tensor dst, float value) {
        for (long offset : elementOffsets(dst)) {
            put(dst, offset, value);
        }
    }

    @Override
    public void gatherRows(Tensor src, Tensor index, Tensor dst) {
        int[] rows = HostArrays.ints(index);
        for (int m = 0; m < rows.length; m++) {
            copy(src.rows(rows[m], rows[m] + 1L), dst.rows(m, m + 1L));
        }
    }

    @Override
    public void scatterRows(Tensor src, Tensor index, Tensor dst) {
        int[] rows = HostArrays.ints(index);
        for (int m = 0; m < rows.length; m++) {
            copy(src.rows(m, m + 1L), dst.rows(rows[m], rows[m] + 1L));
        }
    }

    @Override
    public void crossFade(Tensor a, Tensor b, int dim, Tensor out) {
        int axis = dim < 0 ? a.rank() + dim : dim;
        int n = a.size(axis);
        int inner = 1;
        for (int i = axis + 1; i < a.rank(); i++) {
            inner *= a.size(i);
        }
        float[] from = HostArrays.floats(a);
        float[] to = HostArrays.floats(b);
        for (int i = 0; i < from.length; i++) {
            float ramp = (float) (i / inner % n) / n;
            float fading = from[i] * (1 - ramp);
            float rising = to[i] * ramp;
            from[i] = fading + rising;
        }
        HostArrays.store(from, out);
    }
}
