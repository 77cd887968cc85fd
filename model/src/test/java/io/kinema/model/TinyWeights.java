package io.kinema.model;

import io.kinema.weights.DType;
import io.kinema.weights.MemoryTensors;
import java.util.Random;

/** Builds small checkpoints of seeded random values for tests. */
public final class TinyWeights {
    private final MemoryTensors.Builder builder;
    private final Random random;
    private final DType dtype;

    public TinyWeights(String origin, long seed, DType dtype) {
        this.builder = MemoryTensors.builder(origin);
        this.random = new Random(seed);
        this.dtype = dtype;
    }

    /** Normal values around {@code mean} with deviation {@code spread}. */
    public TinyWeights normal(String name, double mean, double spread, long... dims) {
        int n = 1;
        for (long d : dims) {
            n *= (int) d;
        }
        float[] values = new float[n];
        for (int i = 0; i < n; i++) {
            values[i] = (float) (mean + spread * random.nextGaussian());
        }
        builder.rounded(name, dtype, values, dims);
        return this;
    }

    /** A matrix or kernel [out, in...] whose products keep the variance of their input. */
    public TinyWeights matrix(String name, long... dims) {
        long in = 1;
        for (int i = 1; i < dims.length; i++) {
            in *= dims[i];
        }
        return normal(name, 0, 1 / Math.sqrt(in), dims);
    }

    public MemoryTensors build() {
        return builder.build();
    }
}
