package io.kinema.compute.reference;

import io.kinema.compute.DenseWeight;
import io.kinema.compute.EncodedWeight;
import io.kinema.compute.Int8Weight;
import io.kinema.compute.LinearEpilogue;
import io.kinema.compute.LinearEpilogue.ScaledDelta;
import io.kinema.compute.LinearOps;
import io.kinema.compute.Operand;
import io.kinema.compute.Rotation;
import io.kinema.compute.RowScale;
import io.kinema.compute.Tensor;
import io.kinema.compute.Weight;
import io.kinema.compute.Workspace;
import io.kinema.weights.DType;
import java.util.Optional;

/** Matrix products with FP64 sums. */
final class ReferenceLinear implements LinearOps {

    @Override
    public void linear(Operand x, Weight w, LinearEpilogue epilogue, Tensor out) {
        int m = x.values().size(0);
        int n = w.outFeatures();
        int k = w.inFeatures();
        float[] rows = HostArrays.floats(x.values());
        float[] matrix = matrix(w, x.values().dtype());
        Optional<float[]> scales = x.rowScale().map(HostArrays::floats);
        Optional<float[]> shifts = epilogue.bias().map(HostArrays::floats);
        float[] result = new float[m * n];
        for (int i = 0; i < m; i++) {
            for (int j = 0; j < n; j++) {
                float y = (float) dot(rows, i * k, matrix, j * k, k);
                y = scales.isPresent() ? y * scales.get()[i] : y;
                y = shifts.isPresent() ? y + shifts.get()[j] : y;
                result[i * n + j] = y;
            }
        }
        epilogue.deltas().forEach(delta -> add(delta, result, n));
        HostArrays.store(result, out);
    }

    /** All values of a weight as a product with operands of this type reads them. */
    private static float[] matrix(Weight w, DType operand) {
        return switch (w) {
            case DenseWeight dense -> HostArrays.floats(dense.values());
            case Int8Weight int8 -> {
                float[] scales = HostArrays.floats(int8.scales());
                float[] all = HostArrays.floats(int8.values());
                for (int i = 0; i < all.length; i++) {
                    all[i] = HostArrays.rounded(all[i] * scales[i / w.inFeatures()], operand);
                }
                yield all;
            }
            case EncodedWeight encoded -> {
                float[] all = new float[w.outFeatures() * w.inFeatures()];
                encoded.matrix().decode(0, w.outFeatures(), all, 0);
                for (int i = 0; i < all.length; i++) {
                    all[i] = HostArrays.rounded(all[i], operand);
                }
                yield all;
            }
        };
    }

    private static void add(ScaledDelta delta, float[] result, int n) {
        float[] values = HostArrays.floats(delta.values());
        int columns = delta.values().size(1);
        for (int i = 0; i < values.length; i++) {
            int at = i / columns * n + delta.column() + i % columns;
            result[at] = Math.fma(delta.factor(), values[i], result[at]);
        }
    }

    private static double dot(float[] a, int atA, float[] b, int atB, int length) {
        // Four chains, so that additions need not wait for each other.
        double s0 = 0;
        double s1 = 0;
        double s2 = 0;
        double s3 = 0;
        int i = 0;
        for (; i + 3 < length; i += 4) {
            s0 += (double) a[atA + i] * b[atB + i];
            s1 += (double) a[atA + i + 1] * b[atB + i + 1];
            s2 += (double) a[atA + i + 2] * b[atB + i + 2];
            s3 += (double) a[atA + i + 3] * b[atB + i + 3];
        }
        for (; i < length; i++) {
            s0 += (double) a[atA + i] * b[atB + i];
        }
        return s0 + s1 + (s2 + s3);
    }

    @Override
    public Operand prepare(Tensor x, DType target, Workspace ws) {
        if (x.dtype() == target) {
            return Operand.of(x);
        }
        int m = x.size(0);
        int k = x.size(1);
        float[] rows = HostArrays.floats(x);
        Tensor values = ws.allocate(target, m, k);
        if (target != DType.F16) {
            HostArrays.store(rows, values);
            return Operand.of(values);
        }
        float[] scales = new float[m];
        for (int i = 0; i < m; i++) {
            scales[i] = RowScale.of(largest(rows, i * k, k));
            for (int j = 0; j < k; j++) {
                rows[i * k + j] /= scales[i];
            }
        }
        Tensor rowScale = ws.f32(m);
        HostArrays.store(scales, rowScale);
        HostArrays.store(rows, values);
        return new Operand(values, Optional.of(rowScale));
    }

    /** The product with the matrix itself, sums in FP64. */
    @Override
    public Operand rotate(Operand x, Rotation rotation, Workspace ws) {
        float[] rows = HostArrays.floats(x.values());
        float[] rotated = new float[rows.length];
        int group = rotation.group();
        for (int i = 0; i < rows.length; i++) {
            int start = i - i % group;
            double sum = 0;
            for (int j = 0; j < group; j++) {
                sum += (double) rows[start + j] * rotation.entry(j, i % group);
            }
            rotated[i] = (float) sum;
        }
        Tensor values = ws.allocate(x.values().dtype(), x.values().shape().toArray());
        HostArrays.store(rotated, values);
        return new Operand(values, x.rowScale(), Optional.of(rotation));
    }

    private static float largest(float[] row, int at, int length) {
        float largest = 0;
        for (int i = 0; i < length; i++) {
            largest = Math.max(largest, Math.abs(row[at + i]));
        }
        return largest;
    }
}
