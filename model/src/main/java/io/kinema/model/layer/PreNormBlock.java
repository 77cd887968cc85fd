package io.kinema.model.layer;

import io.kinema.compute.Backend;
import io.kinema.compute.NormOps.Rotary;
import io.kinema.compute.Tensor;
import io.kinema.compute.Workspace;
import java.util.Optional;

/**
 * A pre-norm transformer block on an FP32 residual stream: {@code x += attention(norm1(x)); x += feedForward(norm2(x))}.
 * The text encoder's layers and the DiT's token refiner are made of it.
 */
public final class PreNormBlock {
    private PreNormBlock() {
    }

    /**
     * @param norm1 FP32 [hidden], before attention
     * @param norm2 FP32 [hidden], before the feed-forward
     */
    public record Weights(Tensor norm1, Attention.Weights attention, Tensor norm2, FeedForward.Weights feedForward) {
    }

    /**
     * @param eps    of both norms
     * @param x      FP32 [M, hidden], updated in place
     * @param rotary tables for the M rows, or empty
     */
    public static void forward(Execution run, Attention.Geometry g, float eps, Weights w, Tensor x, Optional<Rotary> rotary) {
        Backend backend = run.backend();
        try (Workspace.Frame _ = run.scratch().frame()) {
            Tensor normed = run.operands(x.shape().toArray());
            Tensor branch = run.scratch().f32(x.shape().toArray());
            backend.rmsNorm(x, Optional.of(w.norm1()), eps, normed);
            Attention.forward(run, g, w.attention(), normed, rotary, branch);
            backend.gatedResidualAdd(x, branch, Optional.empty());
            backend.rmsNorm(x, Optional.of(w.norm2()), eps, normed);
            FeedForward.forward(run, w.feedForward(), normed, branch);
            backend.gatedResidualAdd(x, branch, Optional.empty());
        }
    }
}
