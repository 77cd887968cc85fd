package io.kinema.model.video;

import io.kinema.compute.Backend;
import io.kinema.compute.NormOps.Rotary;
import io.kinema.compute.Tensor;
import io.kinema.compute.Workspace;
import java.util.Arrays;

/**
 * Rotary tables of the decoder. A patch's coordinate on each of the axes time, height, width is the centre of its cell
 * with the axis mapped to [-1, 1]; tokens without a place are at 0. The angle of frequency i is
 * {@code 2 pi * coordinate * theta^(-6 i / R)}; the angles of the three axes follow one another and are repeated for the
 * rotate-half convention. FP32 throughout.
 */
final class PatchRotary {
    private static final int AXES = 3;
    private static final float TURN = (float) (2 * Math.PI);

    private PatchRotary() {
    }

    /** Tables [frames * height * width + extra, R] in {@code ws}'s memory. */
    static Rotary tables(Backend backend, Workspace ws, VideoVaeConfig.Vit vit, int frames, int height, int width, int extra) {
        int rotary = vit.rotaryDim();
        int rows = frames * height * width + extra;
        Axis[] axes = {Axis.of(vit, frames), Axis.of(vit, height), Axis.of(vit, width)};
        float[] cos = new float[rows * rotary];
        float[] sin = new float[rows * rotary];
        Arrays.fill(cos, (rows - extra) * rotary, cos.length, 1);
        for (int row = 0; row < rows - extra; row++) {
            int[] cell = {row / (height * width), row / width % height, row % width};
            for (int half = 0; half < 2; half++) {
                for (int a = 0; a < AXES; a++) {
                    int n = rotary / (2 * AXES);
                    int at = row * rotary + (half * AXES + a) * n;
                    System.arraycopy(axes[a].cos, cell[a] * n, cos, at, n);
                    System.arraycopy(axes[a].sin, cell[a] * n, sin, at, n);
                }
            }
        }
        Tensor cosTable = ws.f32(rows, rotary);
        Tensor sinTable = ws.f32(rows, rotary);
        backend.copy(Tensor.ofFloats(cos, rows, rotary), cosTable);
        backend.copy(Tensor.ofFloats(sin, rows, rotary), sinTable);
        return new Rotary(cosTable, sinTable);
    }

    /** Cosines and sines [cells, frequencies] of one axis. */
    private record Axis(float[] cos, float[] sin) {
        static Axis of(VideoVaeConfig.Vit vit, int cells) {
            int frequencies = vit.rotaryDim() / (2 * AXES);
            Axis axis = new Axis(new float[cells * frequencies], new float[cells * frequencies]);
            for (int cell = 0; cell < cells; cell++) {
                float coordinate = 2f * ((cell + 0.5f) / cells) - 1f;
                for (int i = 0; i < frequencies; i++) {
                    float exponent = (float) (i * (2.0 * AXES / vit.rotaryDim()));
                    float frequency = 1f / (float) Math.pow((float) vit.ropeTheta(), exponent);
                    float angle = TURN * coordinate * frequency;
                    axis.cos[cell * frequencies + i] = (float) Math.cos(angle);
                    axis.sin[cell * frequencies + i] = (float) Math.sin(angle);
                }
            }
            return axis;
        }
    }
}
