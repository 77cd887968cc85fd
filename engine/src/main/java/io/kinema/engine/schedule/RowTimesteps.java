package io.kinema.engine.schedule;

import io.kinema.engine.layout.PackedLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The timestep of every packed row in one evaluation, as the transformer takes it: the distinct timesteps, rising, and each
 * row's index into them. Text rows and generated video rows are at the video timestep t, visual condition rows at
 * {@code max(t, 0.999)}, generated audio rows at the audio timestep, sound references at 1. Immutable.
 */
public final class RowTimesteps {
    private final float[] distinct;
    private final int[] indices;

    private RowTimesteps(float[] distinct, int[] indices) {
        this.distinct = distinct;
        this.indices = indices;
    }

    /** The plan of one evaluation. */
    public static RowTimesteps of(PackedLayout layout, float videoTimestep, float audioTimestep) {
        float condition = (float) Math.max(videoTimestep, FlowNoise.CONDITION_TIMESTEP);
        float[] rows = new float[layout.rows()];
        Arrays.fill(rows, videoTimestep);
        int[] video = layout.videoIndices();
        for (int i = 0; i < layout.conditionVideoRows(); i++) {
            rows[video[i]] = condition;
        }
        int[] audio = layout.audioIndices();
        for (int i = 0; i < audio.length; i++) {
            rows[audio[i]] = i < layout.conditionAudioRows() ? 1f : audioTimestep;
        }
        return reduce(rows);
    }

    /**
     * The plans of a whole denoising, one for each evaluation.
     *
     * @throws IllegalArgumentException when the two grids differ in length
     */
    public static List<RowTimesteps> plan(PackedLayout layout, SigmaGrid video, SigmaGrid audio) {
        if (video.evaluations() != audio.evaluations()) {
            throw new IllegalArgumentException("schedules: got " + video.evaluations() + " video and " + audio.evaluations()
                    + " audio evaluations, expected the same number; ask for fewer steps or other shifts");
        }
        List<RowTimesteps> steps = new ArrayList<>();
        for (int i = 0; i < video.evaluations(); i++) {
            steps.add(of(layout, video.timestep(i), audio.timestep(i)));
        }
        return List.copyOf(steps);
    }

    /** A copy of the distinct timesteps, rising. */
    public float[] distinct() {
        return distinct.clone();
    }

    /** A copy of the rows' indices into {@link #distinct()}, one for each packed row. */
    public int[] indices() {
        return indices.clone();
    }

    private static RowTimesteps reduce(float[] rows) {
        float[] sorted = rows.clone();
        Arrays.sort(sorted);
        int n = 0;
        for (int i = 0; i < sorted.length; i++) {
            if (i == 0 || sorted[i] != sorted[n - 1]) {
                sorted[n++] = sorted[i];
            }
        }
        float[] distinct = Arrays.copyOf(sorted, n);
        int[] indices = new int[rows.length];
        for (int i = 0; i < rows.length; i++) {
            indices[i] = Arrays.binarySearch(distinct, rows[i]);
        }
        return new RowTimesteps(distinct, indices);
    }
}
