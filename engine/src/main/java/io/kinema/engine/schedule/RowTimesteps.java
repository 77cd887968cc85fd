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
    private static final float CLEAN = 1f;

    private final float[] distinct;
    private final int[] indices;

    private RowTimesteps(float[] distinct, int[] indices) {
        this.distinct = distinct;
        this.indices = indices;
    }

    /** The plan of one evaluation. */
    public static RowTimesteps of(PackedLayout layout, float videoTimestep, float audioTimestep) {
        float condition = (float) Math.max(videoTimestep, FlowNoise.CONDITION_TIMESTEP);
        int[] video = layout.videoIndices();
        int[] audio = layout.audioIndices();
        float[] distinct = distinct(videoTimestep, layout.conditionVideoRows() > 0 ? condition : videoTimestep,
                audioTimestep, layout.conditionAudioRows() > 0 ? CLEAN : audioTimestep);
        int[] indices = new int[layout.rows()];
        Arrays.fill(indices, Arrays.binarySearch(distinct, videoTimestep));
        put(indices, video, 0, layout.conditionVideoRows(), Arrays.binarySearch(distinct, condition));
        put(indices, audio, 0, layout.conditionAudioRows(), Arrays.binarySearch(distinct, CLEAN));
        put(indices, audio, layout.conditionAudioRows(), audio.length, Arrays.binarySearch(distinct, audioTimestep));
        return new RowTimesteps(distinct, indices);
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

    private static void put(int[] indices, int[] rows, int from, int to, int value) {
        for (int i = from; i < to; i++) {
            indices[rows[i]] = value;
        }
    }

    private static float[] distinct(float... values) {
        Arrays.sort(values);
        int n = 1;
        for (float v : values) {
            if (v != values[n - 1]) {
                values[n++] = v;
            }
        }
        return Arrays.copyOf(values, n);
    }
}
