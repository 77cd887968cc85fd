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
     * @param index which block, for the modulation's tables and stage names
     * @param table I32: row of the modulation's tables, for every row of x
     * @param rows  where the residual rows lie
     * @param x     FP32 [rows of this rank, hidden], updated in place
     */
    static void forward(Execution run, DitConfig config, Attention.Geometry geometry, int index, PreNormBlock.Weights w,
                        Modulation modulation, Tensor table, Rotary rotary, ResidualRows rows, Tensor x, StageTap tap) {
        Backend backend = run.backend();
        String name = "block" + index;
        tapNorm(run, config, name + "_norm1", w.norm1(), rows, x, tap);
        try (Workspace.Frame _ = run.scratch().frame()) {
            RowModulation shifted = new RowModulation(modulation.part(index, Part.ATTENTION_SHIFT), modulation.part(index, Part.ATTENTION_SCALE), table);
            Tensor attended = rows.branch(run, to -> backend.rmsNormModulate(x, w.norm1(), config.normEps(), shifted, to), w.attention().readers(),
                    (in, out) -> Attention.partial(run, geometry, w.attention(), in, Optional.of(rotary), out));
            rows.stage(run, tap, name + "_attn", attended);
            backend.gatedResidualAdd(x, attended, gate(modulation, index, Part.ATTENTION_GATE, table));
        }
        try (Workspace.Frame _ = run.scratch().frame()) {
            RowModulation shifted = new RowModulation(modulation.part(index, Part.FEED_FORWARD_SHIFT), modulation.part(index, Part.FEED_FORWARD_SCALE), table);
            Tensor fed = rows.branch(run, to -> backend.rmsNormModulate(x, w.norm2(), config.normEps(), shifted, to), w.feedForward().readers(),
                    (in, out) -> FeedForward.partial(run, w.feedForward(), in, out));
            rows.stage(run, tap, name + "_ff", fed);
            backend.gatedResidualAdd(x, fed, gate(modulation, index, Part.FEED_FORWARD_GATE, table));
        }
        rows.stage(run, tap, name, x);
    }

    private static Optional<RowGate> gate(Modulation modulation, int index, Part part, Tensor table) {
        return Optional.of(new RowGate(modulation.part(index, part), Optional.of(table)));
    }

    /** The norm before its modulation is never materialised by the step itself. */
    private static void tapNorm(Execution run, DitConfig config, String name, Tensor weight, ResidualRows rows, Tensor x, StageTap tap) {
        if (tap.wants(name)) {
            try (Workspace.Frame _ = run.scratch().frame()) {
                Tensor normed = run.scratch().f32(x.shape().toArray());
                run.backend().rmsNorm(x, Optional.of(weight), config.normEps(), normed);
                rows.stage(run, tap, name, normed);
            }
        }
    }
}
