package io.kinema.engine;

import io.kinema.engine.layout.LatentShape;
import io.kinema.engine.layout.Patch;
import io.kinema.engine.pipeline.SamplerState;
import io.kinema.engine.schedule.SigmaGrid;
import java.util.Arrays;
import java.util.Optional;

/**
 * Follows the denoising loop and says which clip it is heading for, without another evaluation: an Euler step moves x by
 * (sigma' - sigma) * v, so v follows from two states, and the clip as the model sees it now is x - sigma * v.
 */
final class LatentEstimate {
    private final float[] sigmas;
    private final Patch patch;
    private final LatentShape shape;
    private float[] before;
    private float[] now;
    private int step;

    LatentEstimate(SigmaGrid video, Patch patch, LatentShape shape) {
        this.sigmas = video.sigmas();
        this.patch = patch;
        this.shape = shape;
    }

    /** The loop has come this far, or goes on from here. */
    void follow(SamplerState state) {
        before = state.step() == step + 1 ? now : null;
        step = state.step();
        now = Arrays.copyOfRange(state.video(), state.video().length - shape.elements(), state.video().length);
    }

    /** Sizes of {@link #middle}. */
    long[] sizes() {
        return new long[] {shape.channels(), shape.height(), shape.width()};
    }

    /** The middle latent frame of the estimate, (C, H, W); empty until two states in a row are known. */
    Optional<float[]> middle() {
        if (before == null) {
            return Optional.empty();
        }
        float ratio = sigmas[step] / (sigmas[step] - sigmas[step - 1]);
        float[] rows = new float[now.length];
        for (int i = 0; i < rows.length; i++) {
            rows[i] = now[i] - ratio * (now[i] - before[i]);
        }
        float[] latents = patch.unpatchify(rows, shape);
        int frame = shape.height() * shape.width();
        float[] middle = new float[shape.channels() * frame];
        for (int c = 0; c < shape.channels(); c++) {
            System.arraycopy(latents, (c * shape.frames() + shape.frames() / 2) * frame, middle, c * frame, frame);
        }
        return Optional.of(middle);
    }
}
