package io.kinema.engine.schedule;

import java.util.Arrays;
import java.util.List;

/**
 * The noise levels of one modality's denoising: strictly falling FP32 sigmas, 1 (pure noise) first, exactly 0 last.
 * n + 1 grid points drive n model evaluations; evaluation i sees the timestep {@code t = 1 - sigma[i]}, where t = 1 is clean.
 * A request has two grids, one for video and one for audio; immutable.
 *
 * <p>Source of the formulas: the MiniMax-H3 scheduler of Hugging Face diffusers, in float32 with PyTorch's roundings.
 */
public final class SigmaGrid {
    /** The released shift of the video schedule. */
    public static final double VIDEO_SHIFT = 12;
    /** The released shift of the audio schedule. */
    public static final double AUDIO_SHIFT = 3;

    private final float[] sigmas;

    private SigmaGrid(float[] sigmas) {
        this.sigmas = sigmas;
    }

    /** {@link #ofPoints} for a number of model evaluations; float32 collisions may leave fewer of them on absurdly long grids. */
    public static SigmaGrid ofEvaluations(int evaluations, double shift) {
        if (evaluations < 1 || evaluations == Integer.MAX_VALUE) {
            throw new IllegalArgumentException("evaluations: got " + evaluations + ", expected 1 or more");
        }
        return ofPoints(evaluations + 1, shift);
    }

    /**
     * {@code points} equidistant values from 1 to 0, each moved by {@code s b / (1 + (s - 1) b)}, equal neighbours dropped.
     *
     * @param points grid points, the final 0 included; the reference's {@code num_inference_steps}
     * @param shift  above 0; larger spends more evaluations on high noise
     * @throws IllegalArgumentException when {@code points < 2} or the shift is not positive and finite
     */
    public static SigmaGrid ofPoints(int points, double shift) {
        if (points < 2) {
            throw new IllegalArgumentException("grid points: got " + points + ", expected 2 or more");
        }
        return new SigmaGrid(withoutEqualNeighbours(shifted(fallingUnitLine(points), shift)));
    }

    private static float[] shifted(float[] base, double shift) {
        if (!(shift > 0 && Float.isFinite((float) shift))) {
            throw new IllegalArgumentException("shift: got " + shift + ", expected a positive number");
        }
        float scale = (float) shift;
        float less = (float) (shift - 1);
        float[] sigmas = new float[base.length];
        for (int i = 0; i < base.length; i++) {
            sigmas[i] = scale * base[i] / (1 + less * base[i]);
        }
        return sigmas;
    }

    /**
     * Noise levels that a distilled adapter was trained at, each moved by {@code s b / (1 + (s - 1) b)} in FP32.
     *
     * @param levels strictly falling from at most 1 to 0
     * @throws IllegalArgumentException when they are not, or two of them meet in FP32
     */
    public static SigmaGrid ofLevels(List<Double> levels, double shift) {
        float[] base = new float[levels.size()];
        for (int i = 0; i < base.length; i++) {
            base[i] = levels.get(i).floatValue();
        }
        return of(shifted(base, shift));
    }

    /**
     * A grid given value by value (distilled adapters bring one); neither shifted nor thinned.
     *
     * @throws IllegalArgumentException unless there are two values or more that fall strictly and end at 0
     */
    public static SigmaGrid of(float... sigmas) {
        boolean falls = sigmas.length >= 2 && sigmas[sigmas.length - 1] == 0;
        for (int i = 1; falls && i < sigmas.length; i++) {
            falls = sigmas[i] < sigmas[i - 1];
        }
        if (!falls || !Float.isFinite(sigmas[0])) {
            throw new IllegalArgumentException("sigmas: got " + Arrays.toString(sigmas)
                    + ", expected two finite values or more that fall strictly and end at 0.0");
        }
        return new SigmaGrid(sigmas.clone());
    }

    /** Number of model evaluations: grid points - 1. */
    public int evaluations() {
        return sigmas.length - 1;
    }

    /** A copy of all sigmas, the final 0 included. */
    public float[] sigmas() {
        return sigmas.clone();
    }

    /** A copy of the timesteps {@code 1 - sigma}, one for each evaluation. */
    public float[] timesteps() {
        float[] t = new float[evaluations()];
        for (int i = 0; i < t.length; i++) {
            t[i] = timestep(i);
        }
        return t;
    }

    /** Timestep of evaluation {@code i}. */
    public float timestep(int i) {
        return 1 - sigmas[i];
    }

    /** The update that follows evaluation {@code i}. */
    public EulerStep step(int i) {
        return new EulerStep(1 - timestep(i), sigmas[i + 1] / sigmas[i]);
    }

    @Override
    public String toString() {
        return "sigmas " + Arrays.toString(sigmas);
    }

    /**
     * {@code torch.linspace(1, 0, n)} in float32: the first half counts up from 1 with a fused multiply-add, the second down
     * to 0, both by the rounded step.
     */
    private static float[] fallingUnitLine(int n) {
        float step = -1f / (n - 1);
        float[] line = new float[n];
        for (int i = 0; i < n; i++) {
            line[i] = i < n / 2 ? Math.fma(step, i, 1f) : 0f - step * (n - 1 - i);
        }
        return line;
    }

    private static float[] withoutEqualNeighbours(float[] values) {
        float[] kept = new float[values.length];
        int n = 0;
        for (float v : values) {
            if (n == 0 || v != kept[n - 1]) {
                kept[n++] = v;
            }
        }
        return Arrays.copyOf(kept, n);
    }
}
