package io.kinema.model.layer;

import io.kinema.compute.Backend;
import io.kinema.compute.NormOps.Rotary;
import io.kinema.compute.Workspace;

/**
 * Rotary tables computed on the host as the reference does: inverse frequencies and angles in FP32, cosines and sines
 * rounded from double. Angles are repeated in both halves of a row, the rotate-half convention.
 */
public final class RotaryTable {
    private RotaryTable() {
    }

    /** The position that turns channel pair {@code pair} of row {@code row}. */
    @FunctionalInterface
    public interface Positions {
        float at(int row, int pair);
    }

    /** {@code 1 / theta^(2i / dim)} for i in [0, dim / 2), every operation in FP32. */
    public static float[] inverseFrequencies(double theta, int dim) {
        float[] inverse = new float[dim / 2];
        for (int i = 0; i < inverse.length; i++) {
            float exponent = (2f * i) / dim;
            inverse[i] = 1f / (float) Math.pow((float) theta, exponent);
        }
        return inverse;
    }

    /**
     * @param frequencies one inverse frequency per channel pair
     * @return FP32 tables [rows, 2 * pairs] in {@code owner}'s memory
     */
    public static Rotary build(Backend backend, Workspace owner, int rows, float[] frequencies, Positions positions) {
        int pairs = frequencies.length;
        float[] cos = new float[Math.multiplyExact(rows, 2 * pairs)];
        float[] sin = new float[cos.length];
        for (int r = 0; r < rows; r++) {
            for (int p = 0; p < pairs; p++) {
                float angle = positions.at(r, p) * frequencies[p];
                int at = r * 2 * pairs + p;
                cos[at] = cos[at + pairs] = (float) Math.cos(angle);
                sin[at] = sin[at + pairs] = (float) Math.sin(angle);
            }
        }
        return new Rotary(Execution.upload(backend, owner, cos, rows, 2L * pairs), Execution.upload(backend, owner, sin, rows, 2L * pairs));
    }
}
