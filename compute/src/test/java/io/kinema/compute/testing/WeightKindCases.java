package io.kinema.compute.testing;

import io.kinema.compute.Backend;
import io.kinema.compute.Int8Weight;
import io.kinema.compute.LinearEpilogue;
import io.kinema.compute.LinearEpilogue.ScaledDelta;
import io.kinema.compute.Operand;
import io.kinema.compute.Rotation;
import io.kinema.compute.Tensor;
import io.kinema.compute.Weight;
import io.kinema.compute.Workspace;
import io.kinema.compute.reference.ReferenceBackend;
import io.kinema.weights.DType;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/** Products with every kind of weight, rotation, and what follows a product. */
final class WeightKindCases {
    private static final List<DType> OPERANDS = List.of(DType.F32, DType.F16, DType.BF16);

    /** Made once, by one backend: the last bit of a rotated value decides which integer it becomes. */
    private static final Map<String, List<Weight>> KINDS = new ConcurrentHashMap<>();

    private WeightKindCases() {
    }

    static List<OpCase> all() {
        List<OpCase> cases = new ArrayList<>();
        for (DType operand : OPERANDS) {
            // Rows, columns, outputs, group: odd tails, one group alone, more weights than are decoded at once.
            for (int[] s : new int[][] {{1, 4, 1, 4}, {7, 48, 21, 16}, {33, 192, 65, 64}, {5, 512, 40, 256}}) {
                cases.add(product(s, operand));
            }
            for (int[] s : new int[][] {{1, 4, 4}, {5, 48, 16}, {9, 320, 64}, {3, 1536, 256}}) {
                cases.add(rotation(s, operand));
            }
            for (DType out : OPERANDS) {
                cases.add(epilogue(operand, out));
            }
            cases.add(manyIntegers(operand));
        }
        return cases;
    }

    /** The results of all kinds, one above the other. */
    private static OpCase product(int[] s, DType operand) {
        String name = "linear of every kind [%d,%d]x[%d] rotated by %d, %s".formatted(s[0], s[1], s[2], s[3], operand);
        // A rotated row may round to the neighbouring 16-bit value when the sum before it was made in another order.
        return new OpCase(name, operand == DType.F32 ? OpCases.FP32 : operand == DType.F16 ? OpCases.F16_STORE : OpCases.BF16_STORE, b -> {
            Values v = new Values(21);
            Tensor x = v.scaled(DType.F32, 3000, s[0], s[1]);
            Rotation rotation = new Rotation(s[3]);
            List<Weight> kinds = KINDS.computeIfAbsent(name, _ -> kinds(v.normal(s[2], s[1]), rotation));
            Tensor out = Values.empty((long) kinds.size() * s[0], s[2]);
            try (Workspace ws = b.workspace("test")) {
                Operand plain = b.prepare(x, operand, ws);
                Operand rotated = b.rotate(plain, rotation, ws);
                for (int i = 0; i < kinds.size(); i++) {
                    Weight w = kinds.get(i);
                    b.linear(w.rotation().isPresent() ? rotated : plain, w, out.rows((long) i * s[0], (i + 1L) * s[0]));
                }
            }
            return out;
        });
    }

    /** More integers than are decoded at once. */
    private static OpCase manyIntegers(DType operand) {
        return new OpCase("linear [2,1280]x[900] int8 in parts, " + operand, OpCases.FP32, b -> {
            Values v = new Values(24);
            Int8Weight w = new Int8Weight(v.integers(900, 1280), v.uniform(0.001, 0.1, 900), Optional.empty());
            Tensor out = Values.empty(2, 900);
            b.linear(Operand.of(v.normal(operand, 2, 1280)), w, out);
            return out;
        });
    }

    private static List<Weight> kinds(Tensor w, Rotation rotation) {
        try (Backend reference = new ReferenceBackend()) {
            return List.copyOf(WeightKinds.all(reference, w, Optional.of(rotation)).values());
        }
    }

    private static OpCase rotation(int[] s, DType dtype) {
        return new OpCase("rotate [%d,%d] by %d, %s".formatted(s[0], s[1], s[2], dtype), OpCases.tolerance(dtype), b -> {
            Tensor wide = new Values(22).normal(dtype, s[0], s[1] + 5L);
            try (Workspace ws = b.workspace("test")) {
                Tensor rotated = b.rotate(Operand.of(wide.slice(1, 3, s[1] + 3L)), new Rotation(s[2]), ws).values();
                Tensor out = Values.empty(dtype, s[0], s[1]);
                b.copy(rotated, out);
                return out;
            }
        });
    }

    /** Bias, then three deltas, two of them over a part of the columns and over each other. */
    private static OpCase epilogue(DType operand, DType stored) {
        return new OpCase("linear with deltas %s -> %s".formatted(operand, stored), OpCases.tolerance(stored), b -> {
            Values v = new Values(23);
            Tensor x = v.normal(operand, 37, 50);
            Weight w = WeightKinds.int8(v.normal(700, 50), Optional.empty());
            LinearEpilogue after = new LinearEpilogue(Optional.of(v.normal(700)), List.of(new ScaledDelta(v.normal(37, 700), 0.75f, 0),
                    new ScaledDelta(v.normal(37, 300), -0.5f, 0), new ScaledDelta(v.normal(37, 641).slice(1, 0, 641), 2f, 59)));
            Tensor out = Values.empty(stored, 37, 700);
            b.linear(new Operand(x, Optional.of(v.uniform(1, 4, 37))), w, after, out);
            return out;
        });
    }
}
