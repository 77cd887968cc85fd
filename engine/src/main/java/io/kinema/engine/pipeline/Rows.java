package io.kinema.engine.pipeline;

import java.util.List;

/** Joins and cuts row-major float rows. */
final class Rows {
    private Rows() {
    }

    /** All blocks after one another. */
    static float[] join(List<float[]> blocks) {
        float[] all = new float[blocks.stream().mapToInt(b -> b.length).reduce(0, Math::addExact)];
        int at = 0;
        for (float[] block : blocks) {
            System.arraycopy(block, 0, all, at, block.length);
            at += block.length;
        }
        return all;
    }

    /** Channel-major rows (2 * n, width) to latents (2, width, n). */
    static float[] toAudioLatents(float[] rows, int latents, int width) {
        float[] out = new float[rows.length];
        for (int row = 0; row < rows.length / width; row++) {
            int channel = row / latents;
            int t = row % latents;
            for (int c = 0; c < width; c++) {
                out[(channel * width + c) * latents + t] = rows[row * width + c];
            }
        }
        return out;
    }

    /** Latents (2, width, n) to channel-major rows (2 * n, width). */
    static float[] toAudioRows(float[] latents, int n, int width) {
        float[] out = new float[latents.length];
        for (int channel = 0; channel < latents.length / (n * width); channel++) {
            for (int c = 0; c < width; c++) {
                for (int t = 0; t < n; t++) {
                    out[(channel * n + t) * width + c] = latents[(channel * width + c) * n + t];
                }
            }
        }
        return out;
    }
}
