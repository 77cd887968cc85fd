package io.kinema.model.layer;

import io.kinema.compute.Backend;
import io.kinema.compute.DenseWeight;
import io.kinema.compute.Int8Weight;
import io.kinema.compute.Rotation;
import io.kinema.compute.Tensor;
import io.kinema.compute.Weight;
import io.kinema.compute.Workspace;
import io.kinema.weights.DType;
import java.lang.foreign.ValueLayout;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/** One matrix in the kinds of storage that a precision plan meets. */
final class TestWeights {
    private TestWeights() {
    }

    /** All kinds by name. */
    static Map<String, Weight> kinds(Backend backend, Workspace memory, DType dtype, float[] w, int n, int k, Rotation rotation) {
        float[] rotated = rotated(w, k, rotation);
        Map<String, Weight> kinds = new LinkedHashMap<>();
        kinds.put("rows", dense(backend, memory, dtype, w, n, k));
        kinds.put("columns", columns(backend, memory, dtype, w, n, k));
        kinds.put("int8", int8(memory, w, n, k, Optional.empty()));
        kinds.put("rotated rows", new DenseWeight(dense(backend, memory, dtype, rotated, n, k).values(), Optional.of(rotation)));
        kinds.put("rotated columns", new DenseWeight(columns(backend, memory, dtype, rotated, n, k).values(), Optional.of(rotation)));
        kinds.put("rotated int8", int8(memory, rotated, n, k, Optional.of(rotation)));
        return kinds;
    }

    static DenseWeight dense(Backend backend, Workspace memory, DType dtype, float[] values, int n, int k) {
        Tensor t = memory.allocate(dtype, n, k);
        backend.copy(Tensor.ofFloats(values, n, k), t);
        return new DenseWeight(t);
    }

    static DenseWeight columns(Backend backend, Workspace memory, DType dtype, float[] values, int n, int k) {
        Tensor t = memory.allocate(dtype, k, n);
        backend.copy(Tensor.ofFloats(values, n, k).permute(1, 0), t);
        return new DenseWeight(t.permute(1, 0));
    }

    /** Scale max / 127 for each row. */
    static Int8Weight int8(Workspace memory, float[] w, int n, int k, Optional<Rotation> rotation) {
        Tensor values = memory.allocate(DType.I8, n, k);
        float[] scales = new float[n];
        for (int i = 0; i < n; i++) {
            float largest = 0;
            for (int j = 0; j < k; j++) {
                largest = Math.max(largest, Math.abs(w[i * k + j]));
            }
            scales[i] = largest / 127;
            for (int j = 0; j < k; j++) {
                values.data().set(ValueLayout.JAVA_BYTE, (long) i * k + j, (byte) Math.rint(w[i * k + j] / scales[i]));
            }
        }
        return new Int8Weight(values, Tensor.ofFloats(scales, n), rotation);
    }

    /** Every row times R, from its definition. */
    static float[] rotated(float[] rows, int k, Rotation rotation) {
        float[] out = new float[rows.length];
        for (int i = 0; i < rows.length; i++) {
            int column = i % k % rotation.group();
            double sum = 0;
            for (int j = 0; j < rotation.group(); j++) {
                sum += (double) rows[i - column + j] * rotation.entry(j, column);
            }
            out[i] = (float) sum;
        }
        return out;
    }
}
