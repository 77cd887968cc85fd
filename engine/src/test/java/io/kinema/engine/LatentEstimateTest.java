package io.kinema.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.kinema.engine.layout.LatentShape;
import io.kinema.engine.layout.Patch;
import io.kinema.engine.pipeline.SamplerState;
import io.kinema.engine.schedule.SigmaGrid;
import java.util.Collections;
import java.util.Random;
import org.junit.jupiter.api.Test;

class LatentEstimateTest {
    private static final LatentShape SHAPE = new LatentShape(3, 5, 4, 6);
    private static final Patch PATCH = new Patch(1, 2, 2);
    private static final int CONDITIONS = 24;

    /** On a straight way from noise to a clip every state tells the clip. */
    @Test
    void aStraightPathTellsItsEnd() {
        SigmaGrid grid = SigmaGrid.ofEvaluations(4, 12);
        float[] clip = random(1);
        float[] noise = random(2);
        LatentEstimate estimate = new LatentEstimate(grid, PATCH, SHAPE);
        estimate.follow(state(1, clip, noise, grid.sigmas()[1]));
        assertThat(estimate.middle()).as("one state tells no direction").isEmpty();
        for (int step = 2; step <= 4; step++) {
            estimate.follow(state(step, clip, noise, grid.sigmas()[step]));
            float[] middle = estimate.middle().orElseThrow();
            int frame = SHAPE.height() * SHAPE.width();
            for (int c = 0; c < SHAPE.channels(); c++) {
                for (int i = 0; i < frame; i++) {
                    assertThat(middle[c * frame + i]).as("step %s", step).isCloseTo(clip[(c * SHAPE.frames() + 2) * frame + i], within(1e-4f));
                }
            }
        }
    }

    @Test
    void aGapTellsNothing() {
        SigmaGrid grid = SigmaGrid.ofEvaluations(4, 1);
        LatentEstimate estimate = new LatentEstimate(grid, PATCH, SHAPE);
        estimate.follow(state(1, random(1), random(2), grid.sigmas()[1]));
        estimate.follow(state(3, random(1), random(2), grid.sigmas()[3]));
        assertThat(estimate.middle()).isEmpty();
    }

    private static SamplerState state(int step, float[] clip, float[] noise, float sigma) {
        float[] mixed = new float[clip.length];
        for (int i = 0; i < mixed.length; i++) {
            mixed[i] = (1 - sigma) * clip[i] + sigma * noise[i];
        }
        float[] rows = new float[CONDITIONS + mixed.length];
        System.arraycopy(PATCH.patchify(mixed, SHAPE), 0, rows, CONDITIONS, mixed.length);
        return new SamplerState(step, rows, new float[0], Collections.nCopies(step, 0.1));
    }

    private static float[] random(long seed) {
        Random random = new Random(seed);
        float[] values = new float[SHAPE.elements()];
        for (int i = 0; i < values.length; i++) {
            values[i] = (float) random.nextGaussian();
        }
        return values;
    }
}
