package io.kinema.model.video;

import io.kinema.compute.Backend;
import io.kinema.compute.NormOps.Rotary;
import io.kinema.compute.Tensor;
import io.kinema.compute.Workspace;

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
        float[] cos = new float[rows * rotary];
        float[] sin = new float[rows * rotary];
        float[] angles = new float[rotary / 2];
        float[][] axes = {angles(vit, frames), angles(vit, height), angles(vit, width)};
        int perAxis = rotary / (2 * AXES);
        for (int row = 0; row < rows; row++) {
            int[] cell = {row / (height * width), row / width % height, row % width};
            for (int i = 0; i < angles.length; i++) {
                int axis = i / perAxis;
                angles[i] = row < rows - extra ? axes[axis][cell[axis] * perAxis + i % perAxis] : 0;
            }
            for (int i = 0; i < rotary; i++) {
                cos[row * rotary + i] = (float) Math.cos(angles[i % angles.length]);
                sin[row * rotary + i] = (float) Math.sin(angles[i % angles.length]);
            }
        }
        Tensor cosTable = ws.f32(rows, rotary);
        Tensor sinTable = ws.f32(rows, rotary);
        backend.copy(Tensor.ofFloats(cos, rows, rotary), cosTable);
        backend.copy(Tensor.ofFloats(sin, rows, rotary), sinTable);
        return new Rotary(cosTable, sinTable);
    }

    /** Angles [cells, frequencies] of one axis. */
    private static float[] angles(VideoVaeConfig.Vit vit, int cells) {
        int frequencies = vit.rotaryDim() / (2 * AXES);
        float[] angles = new float[cells * frequencies];
        for (int cell = 0; cell < cells; cell++) {
            float coordinate = 2f * ((cell + 0.5f) / cells) - 1f;
            for (int i = 0; i < frequencies; i++) {
                float exponent = (float) (i * (2.0 * AXES / vit.rotaryDim()));
                float frequency = 1f / (float) Math.pow((float) vit.ropeTheta(), exponent);
                angles[cell * frequencies + i] = TURN * coordinate * frequency;
            }
        }
        return angles;
    }
}
