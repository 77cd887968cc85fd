package io.kinema.compute.check;

import io.kinema.compute.Tensor;

/** Do two strided views share memory? Interleaved views (the columns of one matrix) do not. */
final class Overlap {
    private Overlap() {
    }

    static boolean sameView(Tensor a, Tensor b) {
        if (a.dtype() != b.dtype() || a.data().address() != b.data().address() || !a.shape().equals(b.shape())) {
            return false;
        }
        for (int i = 0; i < a.rank(); i++) {
            if (a.size(i) > 1 && a.stride(i) != b.stride(i)) {
                return false;
            }
        }
        return true;
    }

    /** False only when no byte is shared; true may be a false alarm for views with exotic strides. */
    static boolean possible(Tensor a, Tensor b) {
        if (a.elements() == 0 || b.elements() == 0) {
            return false;
        }
        long startA = a.data().address();
        long startB = b.data().address();
        if (startA + span(a, 0) <= startB || startB + span(b, 0) <= startA) {
            return false;
        }
        return !interleaved(a, b);
    }

    /** True for two views of rows with the same pitch whose parts inside one pitch do not meet. */
    private static boolean interleaved(Tensor a, Tensor b) {
        if (a.rank() == 0 || b.rank() == 0) {
            return false;
        }
        for (int i = 0; i < a.rank(); i++) {
            for (int j = 0; j < b.rank(); j++) {
                if (a.size(i) > 1 && b.size(j) > 1 && apart(a, i, b, j)) {
                    return true;
                }
            }
        }
        return false;
    }

    private static boolean apart(Tensor a, int axisA, Tensor b, int axisB) {
        long pitch = a.stride(axisA) * a.dtype().bytes();
        long widthA = span(a, a.stride(axisA));
        long widthB = span(b, b.stride(axisB));
        if (pitch <= 0 || pitch != b.stride(axisB) * b.dtype().bytes() || widthA > pitch || widthB > pitch
                || !outerStridesAreMultiples(a, a.stride(axisA)) || !outerStridesAreMultiples(b, b.stride(axisB))) {
            return false;
        }
        long shift = Math.floorMod(b.data().address() - a.data().address(), pitch);
        return shift >= widthA && shift + widthB <= pitch;
    }

    private static boolean outerStridesAreMultiples(Tensor t, long pitch) {
        for (int i = 0; i < t.rank(); i++) {
            if (t.size(i) > 1 && t.stride(i) >= pitch && t.stride(i) % pitch != 0) {
                return false;
            }
        }
        return true;
    }

    /** Bytes from the first to past the last element, leaving out axes whose stride is {@code pitch} or more when pitch is positive. */
    private static long span(Tensor t, long pitch) {
        long last = 0;
        for (int i = 0; i < t.rank(); i++) {
            if (pitch == 0 || t.stride(i) < pitch) {
                last += (t.shape().dim(i) - 1) * t.stride(i);
            }
        }
        return (last + 1) * t.dtype().bytes();
    }
}
