package io.kinema.model.dit;

import io.kinema.compute.Backend;
import io.kinema.compute.ElementwiseOps.RowGate;
import io.kinema.compute.NormOps.Rotary;
import io.kinema.compute.NormOps.RowModulation;
import io.kinema.compute.Tensor;
import io.kinema.compute.Workspace;
import io.kinema.model.StageTap;
import io.kinema.model.dit.Modulation.Part;
import io.kinema.model.layer.Attention;
import io.kinema.model.layer.Execution;
import io.kinema.model.layer.FeedForward;
import io.kinema.model.layer.PreNormBlock;
import java.util.Optional;

/**
 * One DiT block on the FP32 residual stream. Twice: norm, shift and scale by the row's (timestep, modality), a branch, and
 * {@code x += gate * branch}. The branches are attention over the whole sequence and a feed-forward.
 */
final class ModulatedBlock {
    private ModulatedBlock() {
    }

    /**
     * @param index    which block, for the modulation's tables and stage names
     * @param rows     I32 [S]: row of the modulation's tables
     * @param x        FP32 [S, hidden], updated in place
     */
    static void forward(Execution run, DitConfig config, Attention.Geometry geometry, int index, PreNormBlock.Weights w,
                        Modulation modulation, Tensor rows, Rotary rotary, Tensor x, StageTap tap) {
        Backend backend = run.backend();
        String name = "block" + index;
        try (Workspace.Frame _ = run.scratch().frame()) {
            Tensor normed = run.operands(x.shape().toArray());
            Tensor branch = run.scratch().f32(x.shape().toArray());
            tapNorm(run, config, name + "_norm1", w.norm1(), x, branch, tap);
            backend.rmsNormModulate(x, w.norm1(), config.normEps(),
                    new RowModulation(modulation.part(index, Part.ATTENTION_SHIFT), modulation.part(index, Part.ATTENTION_SCALE), rows), normed);
            Attention.forward(run, geometry, w.attention(), normed, Optional.of(rotary), branch);
            tap.stage(name + "_attn", branch);
            backend.gatedResidualAdd(x, branch, gate(modulation, index, Part.ATTENTION_GATE, rows));
            backend.rmsNormModulate(x, w.norm2(), config.normEps(),
                    new RowModulation(modulation.part(index, Part.FEED_FORWARD_SHIFT), modulation.part(index, Part.FEED_FORWARD_SCALE), rows), normed);
            FeedForward.forward(run, w.feedForward(), normed, branch);
            tap.stage(name + "_ff", branch);
            backend.gatedResidualAdd(x, branch, gate(modulation, index, Part.FEED_FORWARD_GATE, rows));
        }
        tap.stage(name, x);
    }

    private static Optional<RowGate> gate(Modulation modulation, int index, Part part, Tensor rows) {
        return Optional.of(new RowGate(modulation.part(index, part), Optional.of(rows)));
    }

    /** The norm before its modulation is never materialised by the step itself. */
    private static void tapNorm(Execution run, DitConfig config, String name, Tensor weight, Tensor x, Tensor free, StageTap tap) {
        if (tap.wants(name)) {
            run.backend().rmsNorm(x, Optional.of(weight), config.normEps(), free);
            tap.stage(name, free);
        }
    }
}
