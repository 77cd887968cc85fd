package io.kinema.model.layer;

import io.kinema.compute.Operand;
import io.kinema.compute.Tensor;
import io.kinema.compute.Weight;
import io.kinema.compute.Workspace;

/**
 * What one adapter adds to a linear layer: {@code factor * up (down x)}.
 *
 * @param down       [rank, in], A
 * @param up         [out, rank], B
 * @param factor     alpha / rank times the scale the request gives the adapter; not 0
 * @param sharesDown another layer that sees the same rows has the same A, so that its product here is repeated work
 */
public record LowRankDelta(Weight down, Weight up, float factor, boolean sharesDown) {
    /** A delta whose A is its own. */
    public LowRankDelta(Weight down, Weight up, float factor) {
        this(down, up, factor, false);
    }

    public LowRankDelta {
        if (down.outFeatures() != up.inFeatures()) {
            throw new IllegalArgumentException("low-rank delta: got rank " + down.outFeatures() + " down and " + up.inFeatures() + " up, expected one rank");
        }
    }

    /** Values of the intermediate. */
    public int rank() {
        return down.outFeatures();
    }

    /**
     * {@code up (down x)} without the factor, see {@link Linear} for the rounding points.
     *
     * @param x   not rotated
     * @param out FP32 [M, out]
     */
    void forward(Execution run, Operand x, Tensor out) {
        try (Workspace.Frame _ = run.scratch().frame()) {
            Tensor inner = run.scratch().f32(out.size(0), rank());
            run.backend().linear(x, down, inner);
            run.backend().linear(run.prepare(inner), up, out);
        }
        if (sharesDown) {
            run.work().adapterSharingDown(out.size(0), rank(), up.outFeatures(), down.inFeatures());
        } else {
            run.work().adapter(out.size(0), rank(), up.outFeatures(), down.inFeatures());
        }
    }
}
