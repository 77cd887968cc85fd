package io.kinema.model.dit;

import io.kinema.compute.NormOps.RowModulation;
import io.kinema.compute.Tensor;
import io.kinema.compute.Workspace;
import io.kinema.model.StageTap;
import io.kinema.model.layer.Execution;
import io.kinema.model.load.Parameters;

/** The last norm with its shift and scale by timestep, and the two heads that read velocities from the packed rows. FP32 in every plan. */
final class VelocityHeads {
    private final float eps;
    private final Tensor norm;
    private final Projection video;
    private final Projection audio;

    VelocityHeads(Parameters p, DitConfig config) {
        this.eps = config.finalNormEps();
        this.norm = p.f32("norm_out.norm.weight", config.hidden());
        this.video = Projection.read(p, "proj_out", config.videoPatchDim(), config.hidden());
        this.audio = Projection.read(p, "audio_proj_out", config.audioChannels(), config.hidden());
    }

    /**
     * Norm and heads on the wanted rows only: both work row by row, the rest would be thrown away.
     *
     * @param table I32: row of the output norm's table, for every wanted row
     * @param x     FP32 [S, hidden]
     */
    void forward(Execution run, AdaptersInForce adapters, DitSequence sequence, Modulation modulation, Tensor table, Tensor x, Velocities out) {
        int videoRows = sequence.layout().wantedVideoRows();
        int wanted = videoRows + sequence.layout().wantedAudioRows();
        if (wanted == 0) {
            return;
        }
        Tensor picked = run.scratch().f32(wanted, x.size(1));
        run.backend().gatherRows(x, sequence.wantedIndex(), picked);
        Tensor normed = normed(run, modulation, table, picked);
        if (videoRows > 0) {
            video.forward(run, adapters, normed.rows(0, videoRows), out.video());
        }
        if (videoRows < wanted) {
            audio.forward(run, adapters, normed.rows(videoRows, wanted), out.audio());
        }
    }

    /** The reference normalises every row; a step does so only for a tap. */
    void tapNorm(Execution run, Modulation modulation, RowTables rows, Tensor x, StageTap tap) {
        if (tap.wants("norm_out")) {
            try (Workspace.Frame _ = run.scratch().frame()) {
                tap.stage("norm_out", normed(run, modulation, Execution.upload(run.backend(), run.scratch(), rows.output()), x));
            }
        }
    }

    private Tensor normed(Execution run, Modulation modulation, Tensor table, Tensor x) {
        Tensor normed = run.scratch().f32(x.shape().toArray());
        run.backend().rmsNormModulate(x, norm, eps, new RowModulation(modulation.outputShift(), modulation.outputScale(), table), normed);
        return normed;
    }
}
