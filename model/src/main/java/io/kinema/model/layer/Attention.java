package io.kinema.model.layer;

import io.kinema.compute.Backend;
import io.kinema.compute.NormOps.HeadNorm;
import io.kinema.compute.NormOps.Rotary;
import io.kinema.compute.Operand;
import io.kinema.compute.Tensor;
import io.kinema.compute.Workspace;
import io.kinema.compute.collective.Communicator;
import io.kinema.weights.DType;
import java.util.List;
import java.util.Optional;

/**
 * Self-attention with per-head RMS norm of queries and keys and rotary embedding, without biases:
 * {@code out = Wo . softmax(rope(norm(Wq x)) rope(norm(Wk x))^T / sqrt(D)) Wv x}.
 *
 * <p>Rounding points: queries, keys and values are stored as matrix operands; the attention output is FP32 and goes through
 * {@code prepare} before the output projection, whose result is FP32 for the residual stream.
 */
public final class Attention {
    private Attention() {
    }

    /**
     * The four projections stay apart so that a rank can hold a range of heads and an adapter can add to one of them. With several ranks these are one
     * rank's part: its heads' queries, keys and values, and the columns of the output projection that read them.
     *
     * @param q     [heads * D, hidden]
     * @param k     [kvHeads * D, hidden]
     * @param v     [kvHeads * D, hidden]
     * @param out   [hidden, heads * D]
     * @param normQ FP32 [D]
     * @param normK FP32 [D]
     */
    public record Weights(Linear q, Linear k, Linear v, Linear out, Tensor normQ, Tensor normK) {
        /** The layers that read the input. */
        public List<Linear> readers() {
            return List.of(q, k, v);
        }
    }

    /**
     * @param kvHeads divides {@code heads}
     * @param headDim channels of a head, D
     * @param normEps epsilon of the query and key norms
     * @param causal  row m sees rows 0..m only
     */
    public record Geometry(int heads, int kvHeads, int headDim, float normEps, boolean causal) {
        /** A rank's heads. Where there are fewer key heads than ranks, some have one in common. @throws IllegalArgumentException when they cannot be shared out evenly */
        public Geometry share(Communicator ranks) {
            int keyParts = Math.min(ranks.size(), kvHeads);
            if (heads % ranks.size() != 0 || kvHeads % keyParts != 0 || ranks.size() % keyParts != 0) {
                throw new IllegalArgumentException("tensor parallel: got " + heads + " heads and " + kvHeads + " key heads for " + ranks.size()
                        + " ranks, expected multiples");
            }
            return ranks.size() == 1 ? this : new Geometry(heads / ranks.size(), kvHeads / keyParts, headDim, normEps, causal);
        }

        /** {@code 1 / sqrt(D)}. */
        public float scale() {
            return (float) (1 / Math.sqrt(headDim));
        }
    }

    /**
     * @param g      of this rank's heads
     * @param x      [M, hidden], already normalised, of the operand type
     * @param rotary tables for the M rows, or empty for no rotation
     * @param out    FP32 [M, hidden], contiguous; with several ranks the sum of their partial results, the same on all of them
     */
    public static void forward(Execution run, Geometry g, Weights w, Tensor x, Optional<Rotary> rotary, Tensor out) {
        partial(run, g, w, Operand.of(x), rotary, out);
        run.ranks().allReduce(out);
    }

    /**
     * This rank's heads alone; the results of all ranks add up to the layer's.
     *
     * @param w     of this rank's heads
     * @param x     [M, hidden], already normalised, of the operand type, rotated only where {@link PreparedInput#soleRotation} says so
     * @param out   FP32 [M, hidden], contiguous
     */
    public static void partial(Execution run, Geometry g, Weights w, Operand x, Optional<Rotary> rotary, Tensor out) {
        Backend backend = run.backend();
        long rows = x.values().size(0);
        try (Workspace.Frame _ = run.scratch().frame()) {
            PreparedInput input = PreparedInput.of(run, x, w.readers());
            Tensor q = project(run, input, w.q(), g.heads(), g.headDim());
            Tensor k = project(run, input, w.k(), g.kvHeads(), g.headDim());
            Tensor v = project(run, input, w.v(), g.kvHeads(), g.headDim());
            backend.headNormRotary(q, Optional.of(new HeadNorm(Optional.of(w.normQ()), g.normEps())), rotary, q);
            backend.headNormRotary(k, Optional.of(new HeadNorm(Optional.of(w.normK()), g.normEps())), rotary, k);
            // Stored as BF16 at once: preparing FP32 values for a BF16 product would round them to the same bits.
            Tensor mixed = run.scratch().allocate(run.operand() == DType.BF16 ? DType.BF16 : DType.F32, rows, g.heads(), g.headDim());
            backend.attention(q, k, v, g.scale(), g.causal(), mixed);
            run.work().attention(rows, g.heads(), g.headDim());
            w.out().forward(run, run.prepare(mixed.reshape(rows, -1)), out);
        }
    }

    private static Tensor project(Execution run, PreparedInput x, Linear w, int heads, int headDim) {
        Tensor y = run.operands(x.rows(), w.outFeatures());
        w.forward(run, x, y);
        return y.splitLast(heads, headDim);
    }
}
