package io.kinema.model.layer;

import io.kinema.compute.Backend;
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
 * then y is stored in the output's dtype. Without deltas the product is the base's own, bit for bit.
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

    /** {@link #forward(Execution, Operand, Operand, Tensor)} where base and adapters see the same rows. */
    public void forward(Execution run, Operand x, Tensor out) {
        forward(run, x, x, out);
    }

    /**
     * @param base     rows as the base's weight wants them: rotated already where the weight is and does not rotate by itself
     * @param original the same rows as they were, unrotated, which is what adapters were trained on; the same row scales
     * @param out      [M, out], F32, F16 or BF16
     */
    public void forward(Execution run, Operand base, Operand original, Tensor out) {
        Backend backend = run.backend();
        run.work().product(original.values().size(0), weight.outFeatures(), weight.inFeatures());
        if (deltas.isEmpty()) {
            backend.linear(base, weight, bias, out);
            return;
        }
        try (Workspace.Frame _ = run.scratch().frame()) {
            boolean wide = out.dtype() == DType.F32;
            Tensor y = wide ? out : run.scratch().f32(out.size(0), out.size(1));
            backend.linear(base, weight, bias, y);
            for (LowRankDelta delta : deltas) {
                add(run, original, delta, y);
            }
            if (!wide) {
                backend.copy(y, out);
            }
        }
    }

    private static void count(Execution run, LowRankDelta delta, long rows) {
        if (delta.sharesDown()) {
            run.work().adapterSharingDown(rows, delta.rank(), delta.up().outFeatures(), delta.down().inFeatures());
        } else {
            run.work().adapter(rows, delta.rank(), delta.up().outFeatures(), delta.down().inFeatures());
        }
    }

    private static void add(Execution run, Operand x, LowRankDelta delta, Tensor y) {
        try (Workspace.Frame _ = run.scratch().frame()) {
            Tensor inner = run.scratch().f32(y.size(0), delta.rank());
            run.backend().linear(x, delta.down(), inner);
            Tensor added = run.scratch().f32(y.size(0), y.size(1));
            run.backend().linear(run.prepare(inner), delta.up(), added);
            run.backend().addScaled(added, delta.factor(), y);
            count(run, delta, y.size(0));
        }
    }
}
