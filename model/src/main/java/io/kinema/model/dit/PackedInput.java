package io.kinema.model.dit;

import io.kinema.compute.Tensor;
import io.kinema.compute.Workspace;
import io.kinema.model.StageTap;
import io.kinema.model.layer.Execution;
import io.kinema.model.load.Parameters;

/** Projects video and audio rows to the packed sequence's width and puts them and the refined text in their places. FP32 in every plan. */
final class PackedInput {
    private final int hidden;
    private final Projection video;
    private final Projection audio;

    PackedInput(Parameters p, DitConfig config) {
        this.hidden = config.hidden();
        this.video = Projection.read(p, "proj_in", hidden, config.videoPatchDim());
        this.audio = Projection.read(p, "audio_proj_in", hidden, config.audioChannels());
    }

    /** FP32 [S, hidden] in scratch memory of the enclosing frame; rows that nobody claims are zero. */
    Tensor forward(Execution run, AdaptersInForce adapters, DitSequence sequence, Tensor videoRows, Tensor audioRows, StageTap tap) {
        Tensor x = run.scratch().f32(sequence.layout().rows(), hidden);
        if (sequence.layout().hasUnclaimedRows()) {
            run.backend().fill(x, 0f);
        }
        place(run, sequence.text(), sequence.textIndex(), x);
        try (Workspace.Frame _ = run.scratch().frame()) {
            place(run, embed(run, adapters, video, videoRows, tap), sequence.videoIndex(), x);
            place(run, embed(run, adapters, audio, audioRows, tap), sequence.audioIndex(), x);
        }
        return x;
    }

    private Tensor embed(Execution run, AdaptersInForce adapters, Projection projection, Tensor rows, StageTap tap) {
        Tensor embedded = run.scratch().f32(rows.size(0), hidden);
        if (rows.size(0) > 0) {
            projection.forward(run, adapters, rows, embedded);
        }
        tap.stage(projection.name(), embedded);
        return embedded;
    }

    private static void place(Execution run, Tensor rows, Tensor index, Tensor x) {
        if (rows.size(0) > 0) {
            run.backend().scatterRows(rows, index, x);
        }
    }
}
