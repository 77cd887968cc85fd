package io.kinema.engine.schedule;

/** The forward process of rectified flow in H3's time: t = 1 is clean, t = 0 is noise. */
public final class FlowNoise {
    /** The timestep at which visual conditions are held for the whole denoising. */
    public static final double CONDITION_TIMESTEP = 0.999;

    private FlowNoise() {
    }

    /**
     * {@code t * clean + (1 - t) * noise} in FP32, t rounded to FP32 first, every product and sum rounded. A new array.
     *
     * @param t in [0, 1]
     */
    public static float[] mix(float[] clean, float[] noise, double t) {
        if (clean.length != noise.length) {
            throw new IllegalArgumentException("noise: got " + noise.length + " values, expected " + clean.length);
        }
        if (!(t >= 0 && t <= 1)) {
            throw new IllegalArgumentException("t: got " + t + ", expected a number from 0 to 1");
        }
        float keep = (float) t;
        float add = 1 - keep;
        float[] out = new float[clean.length];
        for (int i = 0; i < out.length; i++) {
            out[i] = keep * clean[i] + add * noise[i];
        }
        return out;
    }
}
