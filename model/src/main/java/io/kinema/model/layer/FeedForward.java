package io.kinema.model.layer;

import io.kinema.compute.Operand;
import io.kinema.compute.Tensor;
import io.kinema.compute.Workspace;
import java.util.List;

/**
 * SwiGLU feed-forward without biases: {@code out = Wdown (silu(Wgate x) * (Wup x))}.
 *
 * <p>Rounding points: gate and up are stored as matrix operands; their SwiGLU is computed in FP32 and goes through
 * {@code prepare} before the down projection, whose result is FP32 for the residual stream.
 */
public final class FeedForward {
    private FeedForward() {
    }

    /**
     * Gate and up stay apart so that a rank can hold a range of both and an adapter can add to one of them. With several ranks these are one rank's
     * part: its range of the gate's half and the same of the up half, and the columns of down that read them.
     *
     * @param gate [F, hidden]
     * @param up   [F, hidden]
     * @param down [hidden, F]
     */
    public record Weights(Linear gate, Linear up, Linear down) {
        /** The layers that read the input. */
        public List<Linear> readers() {
            return List.of(gate, up);
        }
    }

    /**
     * @param x   [M, hidden], already normalised, of the operand type
     * @param out FP32 [M, hidden], contiguous; with several ranks the sum of their partial results, the same on all of them
     */
    public static void forward(Execution run, Weights w, Tensor x, Tensor out) {
        partial(run, w, Operand.of(x), out);
        run.ranks().allReduce(out);
    }

    /**
     * This rank's channels alone; the results of all ranks add up to the layer's.
     *
     * @param w     of this rank's channels
     * @param x     [M, hidden], already normalised, of the operand type, rotated only where {@link PreparedInput#soleRotation} says so
     * @param out   FP32 [M, hidden], contiguous
     */
    public static void partial(Execution run, Weights w, Operand x, Tensor out) {
        long rows = x.values().size(0);
        try (Workspace.Frame _ = run.scratch().frame()) {
            PreparedInput input = PreparedInput.of(run, x, w.readers());
            Tensor gate = run.operands(rows, w.gate().outFeatures());
            Tensor up = run.operands(rows, w.up().outFeatures());
            w.gate().forward(run, input, gate);
            w.up().forward(run, input, up);
            w.down().forward(run, run.backend().prepareSwiglu(gate, up, run.operand(), run.scratch()), out);
        }
    }
}
