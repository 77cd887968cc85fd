package io.kinema.compute.testing;

import io.kinema.compute.Backend;
import io.kinema.compute.DenseWeight;
import io.kinema.compute.EncodedWeight;
import io.kinema.compute.Int8Weight;
import io.kinema.compute.Operand;
import io.kinema.compute.Rotation;
import io.kinema.compute.Tensor;
import io.kinema.compute.Weight;
import io.kinema.compute.Workspace;
import io.kinema.weights.DType;
import io.kinema.weights.EncodedMatrix;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;

/** One FP32 matrix in every kind of storage that products read. */
public final class WeightKinds {
    private WeightKinds() {
    }

    /** All kinds, by what they are called in test names, the rotated ones only where a group divides the columns. */
    public static Map<String, Weight> all(Backend backend, Tensor w, Optional<Rotation> rotation) {
        Map<String, Weight> kinds = new LinkedHashMap<>();
        for (DType dtype : new DType[] {DType.F32, DType.BF16, DType.F16}) {
            kinds.put(dtype + " rows", new DenseWeight(rounded(backend, w, dtype)));
            kinds.put(dtype + " columns", columnMajor(backend, w, dtype));
        }
        kinds.put("int8", int8(w, Optional.empty()));
        kinds.put("encoded", encoded(w, Optional.empty()));
        rotation.ifPresent(r -> {
            Tensor rotated = rotated(backend, w, r);
            kinds.put("rotated F16 rows", new DenseWeight(rounded(backend, rotated, DType.F16), rotation));
            kinds.put("rotated F16 columns", new DenseWeight(columnMajor(backend, rotated, DType.F16).values(), rotation));
            kinds.put("rotated int8", int8(rotated, rotation));
            kinds.put("rotated encoded", encoded(rotated, rotation));
        });
        return kinds;
    }

    public static Tensor rounded(Backend backend, Tensor w, DType dtype) {
        Tensor t = Values.empty(dtype, w.shape().toArray());
        backend.copy(w, t);
        return t;
    }

    public static DenseWeight columnMajor(Backend backend, Tensor w, DType dtype) {
        Tensor t = Values.empty(dtype, w.size(1), w.size(0));
        backend.copy(w.permute(1, 0), t);
        return new DenseWeight(t.permute(1, 0));
    }

    /** {@code w R}, FP32. */
    public static Tensor rotated(Backend backend, Tensor w, Rotation rotation) {
        Tensor t = Values.empty(w.shape().toArray());
        try (Workspace ws = backend.workspace("rotation")) {
            backend.copy(backend.rotate(Operand.of(w), rotation, ws).values(), t);
        }
        return t;
    }

    /** Quantised as published files are: scale max / 127, rounded to even, rows of zeros with scale 1. */
    public static Int8Weight int8(Tensor w, Optional<Rotation> rotation) {
        int n = w.size(0);
        int k = w.size(1);
        Tensor values = Values.empty(DType.I8, n, k);
        float[] scales = new float[n];
        for (int i = 0; i < n; i++) {
            float[] row = w.rows(i, i + 1).toFloats();
            float largest = 0;
            for (float x : row) {
                largest = Math.max(largest, Math.abs(x));
            }
            scales[i] = largest == 0 ? 1 : largest / 127;
            for (int j = 0; j < k; j++) {
                values.data().set(ValueLayout.JAVA_BYTE, (long) i * k + j, (byte) Math.clamp(Math.rint(row[j] / scales[i]), -128, 127));
            }
        }
        return new Int8Weight(values, Tensor.ofFloats(scales, n), rotation);
    }

    /** An encoding that gives back what was put in. */
    public static EncodedWeight encoded(Tensor w, Optional<Rotation> rotation) {
        return new EncodedWeight(new Kept(w), rotation);
    }

    /** Values kept as they are behind a decoder. */
    public record Kept(Tensor values) implements EncodedMatrix {
        @Override
        public void decode(long from, long to, float[] out, int at) {
            Objects.checkFromToIndex(from, to, rows());
            float[] all = values.rows(from, to).toFloats();
            System.arraycopy(all, 0, out, at, all.length);
        }

        @Override
        public EncodedMatrix rows(long from, long to) {
            return new Kept(values.rows(from, to));
        }

        @Override
        public String name() {
            return "kept.weight";
        }

        @Override
        public Path file() {
            return Path.of("memory");
        }

        @Override
        public long rows() {
            return values.size(0);
        }

        @Override
        public long columns() {
            return values.size(1);
        }

        @Override
        public long bytes() {
            return values.elements() * Float.BYTES;
        }

        @Override
        public OptionalInt rotation() {
            return OptionalInt.empty();
        }

        @Override
        public String encoding() {
            return "kept";
        }
    }
}
