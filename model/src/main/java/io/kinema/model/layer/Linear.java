package io.kinema.model.layer;

import io.kinema.compute.Backend;
import io.kinema.compute.LinearEpilogue;
import io.kinema.compute.LinearEpilogue.ScaledDelta;
import io.kinema.compute.Operand;
import io.kinema.compute.Tensor;
import io.kinema.compute.Weight;
import io.kinema.compute.Workspace;
import io.kinema.weights.DType;
import java.util.List;
import java.util.Optional;

/**
 * A linear layer and the low-rank deltas in force on it: {@code y = W x + bias + sum_i factor_i B_i (A_i x)}.
 *
 * <p>Rounding points with deltas: A's product is FP32 with the row scale of x restored; it is prepared like any other
 * operand for B; B's FP32 product, its own row scale restored, joins y by one FMA per adapter, in the order of the list;
 * then y is stored in the output's dtype. Without deltas the product is the base's own, bit for bit. The base reads rows in
 * its weight's coordinates, adapters always the rows as they are, which is what they were trained on.
 *
 * @param weight [out, in]
 * @param bias   FP32 [out], or empty
 * @param deltas one for each adapter that reaches this layer, each [out, in]
 */
public record Linear(Weight weight, Optional<Tensor> bias, List<LowRankDelta> deltas) {
    public Linear {
        deltas = List.copyOf(deltas);
        for (LowRankDelta delta : deltas) {
            if (delta.down().inFeatures() != weight.inFeatures() || delta.up().outFeatures() != weight.outFeatures()) {
                throw new IllegalArgumentException("linear delta: got [" + delta.up().outFeatures() + ", " + delta.down().inFeatures()
                        + "], expected the base's [" + weight.outFeatures() + ", " + weight.inFeatures() + "]");
            }
        }
    }

    /** A layer without bias and adapters. */
    public static Linear of(Weight weight) {
        return new Linear(weight, Optional.empty(), List.of());
    }

    /** The same base with these deltas instead. */
    public Linear with(List<LowRankDelta> others) {
        return others.isEmpty() && deltas.isEmpty() ? this : new Linear(weight, bias, others);
    }

    public int outFeatures() {
        return weight.outFeatures();
    }

    /** {@link #forward(Execution, PreparedInput, Tensor)} for rows that no other layer reads. */
    public void forward(Execution run, Operand x, Tensor out) {
        try (Workspace.Frame _ = run.scratch().frame()) {
            forward(run, PreparedInput.of(run, x, List.of(this)), out);
        }
    }

    /**
     * @param x   prepared for this layer, see {@link PreparedInput#of}
     * @param out [M, out], F32, F16 or BF16
     */
    public void forward(Execution run, PreparedInput x, Tensor out) {
        run.work().product(out.size(0), weight.outFeatures(), weight.inFeatures());
        Operand base = x.in(weight.rotation());
        try (Workspace.Frame _ = run.scratch().frame()) {
            switch (deltas.size()) {
                case 0 -> run.backend().linear(base, weight, bias, out);
                case 1 -> fused(run, base, x.original(), out);
                default -> oneByOne(run, base, x.original(), out);
            }
        }
    }

    /** The delta first, then the base's product, which adds it before its only store. */
    private void fused(Execution run, Operand base, Operand original, Tensor out) {
        LowRankDelta delta = deltas.getFirst();
        Tensor added = run.scratch().f32(out.size(0), out.size(1));
        delta.forward(run, original, added);
        run.backend().linear(base, weight, new LinearEpilogue(bias, List.of(new ScaledDelta(added, delta.factor(), 0))), out);
    }

    /** Memory for one delta at a time, however many there are: the same operations in the same order, so the same bits. */
    private void oneByOne(Execution run, Operand base, Operand original, Tensor out) {
        Backend backend = run.backend();
        boolean wide = out.dtype() == DType.F32;
        Tensor y = wide ? out : run.scratch().f32(out.size(0), out.size(1));
        backend.linear(base, weight, bias, y);
        Tensor added = run.scratch().f32(y.size(0), y.size(1));
        for (LowRankDelta delta : deltas) {
            delta.forward(run, original, added);
            backend.addScaled(added, delta.factor(), y);
        }
        if (!wide) {
            backend.copy(y, out);
        }
    }
}
