package io.kinema.quality.sound;

import io.kinema.media.audio.Sound;
import java.util.Random;
import java.util.function.IntToDoubleFunction;

/** Sounds made by formula, for tests. */
public final class Sounds {
    public static final int RATE = 32000;

    private Sounds() {
    }

    public static float[] samples(int length, IntToDoubleFunction wave) {
        float[] out = new float[length];
        for (int i = 0; i < length; i++) {
            out[i] = (float) wave.applyAsDouble(i);
        }
        return out;
    }

    public static Sound mono(float[] samples) {
        return new Sound(RATE, new float[][] {samples});
    }

    public static float[] tone(int length, double hertz, double amplitude) {
        return samples(length, i -> amplitude * Math.sin(2 * Math.PI * hertz * i / RATE));
    }

    public static float[] noise(int length, double amplitude, long seed) {
        Random random = new Random(seed);
        return samples(length, i -> amplitude * random.nextGaussian());
    }
}
