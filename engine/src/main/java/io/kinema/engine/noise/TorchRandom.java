package io.kinema.engine.noise;

/**
 * The random streams of PyTorch's CPU generator: {@code torch.Generator("cpu").manual_seed(seed)} followed by draws.
 * Draws advance one stream, so their order is part of the result. Not safe for use by several threads.
 *
 * <p>Uniforms and normal draws of fewer than 16 values have PyTorch's bits. Float32 normal draws of 16 and more are within
 * 2e-6 of it: PyTorch's own vector and scalar code paths differ by that much in {@code log}, {@code sin} and {@code cos}.
 *
 * <p>Source of the formulas: PyTorch, {@code aten/src/ATen/native/cpu/DistributionTemplates.h} (normal fill),
 * {@code aten/src/ATen/core/DistributionsHelper.h} and {@code TransformationHelper.h} (uniform and Box-Muller scalars).
 */
public final class TorchRandom {
    private static final double UNIT_53 = 0x1p-53;
    private static final long MASK_53 = (1L << 53) - 1;
    private static final float UNIT_24 = 0x1p-24f;
    private static final int MASK_24 = (1 << 24) - 1;
    /** Normal draws of this size and more fill a buffer of uniforms and transform it in blocks of this size. */
    private static final int BLOCK = 16;
    private static final float TWO_PI = (float) (2 * Math.PI);

    private final Mt19937 bits;
    private double kept;
    private boolean hasKept;

    /** Starts the stream of {@code seed}; as in PyTorch only the low 32 bits of the seed count. */
    public TorchRandom(long seed) {
        bits = new Mt19937((int) seed);
    }

    /** {@code torch.rand(n, dtype=float32)}: multiples of 2^-24 in [0, 1). */
    public float[] rand(int n) {
        float[] out = new float[n];
        uniforms(out, 0, n);
        return out;
    }

    /** {@code torch.rand(n, dtype=float64)}: multiples of 2^-53 in [0, 1). */
    public double[] randDouble(int n) {
        double[] out = new double[n];
        uniforms(out, 0, n);
        return out;
    }

    /** {@code torch.randn(n, dtype=float32)}: independent draws from the standard normal distribution. */
    public float[] randn(int n) {
        float[] out = new float[n];
        if (n < BLOCK) {
            for (int i = 0; i < n; i++) {
                out[i] = (float) normal();
            }
            return out;
        }
        uniforms(out, 0, n);
        for (int i = 0; i + BLOCK <= n; i += BLOCK) {
            boxMuller(out, i);
        }
        if (n % BLOCK != 0) {
            uniforms(out, n - BLOCK, n);
            boxMuller(out, n - BLOCK);
        }
        return out;
    }

    /** {@code torch.randn(n, dtype=float64)}. */
    public double[] randnDouble(int n) {
        double[] out = new double[n];
        if (n < BLOCK) {
            for (int i = 0; i < n; i++) {
                out[i] = normal();
            }
            return out;
        }
        uniforms(out, 0, n);
        for (int i = 0; i + BLOCK <= n; i += BLOCK) {
            boxMuller(out, i);
        }
        if (n % BLOCK != 0) {
            uniforms(out, n - BLOCK, n);
            boxMuller(out, n - BLOCK);
        }
        return out;
    }

    /**
     * {@code torch.empty(n, dtype=int64).random_(0, modulo)} for wide ranges: 64 random bits, unsigned, modulo {@code modulo}.
     *
     * @param modulo at least 2^28: below that PyTorch draws 32 bits instead
     * @throws IllegalArgumentException for a smaller modulo
     */
    public long[] random64(int n, long modulo) {
        if (modulo < 1L << 28) {
            throw new IllegalArgumentException("random64 modulo: got " + modulo + ", expected at least 2^28 = " + (1L << 28));
        }
        long[] out = new long[n];
        for (int i = 0; i < n; i++) {
            out[i] = Long.remainderUnsigned(nextLong(), modulo);
        }
        return out;
    }

    private long nextLong() {
        long high = Integer.toUnsignedLong(bits.nextInt());
        return high << 32 | Integer.toUnsignedLong(bits.nextInt());
    }

    private double uniform() {
        return (nextLong() & MASK_53) * UNIT_53;
    }

    private void uniforms(float[] out, int from, int to) {
        for (int i = from; i < to; i++) {
            out[i] = (bits.nextInt() & MASK_24) * UNIT_24;
        }
    }

    private void uniforms(double[] out, int from, int to) {
        for (int i = from; i < to; i++) {
            out[i] = uniform();
        }
    }

    /** One short-draw normal: pairs come from two uniforms, and the second of a pair waits for the next short draw. */
    private double normal() {
        if (hasKept) {
            hasKept = false;
            return kept;
        }
        double u1 = uniform();
        double u2 = uniform();
        double radius = Math.sqrt(-2 * StrictMath.log1p(-u2));
        double theta = 2 * Math.PI * u1;
        kept = radius * StrictMath.sin(theta);
        hasKept = true;
        return radius * StrictMath.cos(theta);
    }

    /** Turns 16 uniforms into 16 normals; every function value is rounded to float32 as PyTorch's vector code does. */
    private static void boxMuller(float[] x, int at) {
        for (int j = at; j < at + BLOCK / 2; j++) {
            float log = (float) StrictMath.log(1 - x[j]);
            float radius = (float) Math.sqrt(-2 * log);
            double theta = TWO_PI * x[j + BLOCK / 2];
            x[j] = radius * (float) StrictMath.cos(theta);
            x[j + BLOCK / 2] = radius * (float) StrictMath.sin(theta);
        }
    }

    private static void boxMuller(double[] x, int at) {
        for (int j = at; j < at + BLOCK / 2; j++) {
            double radius = Math.sqrt(-2 * StrictMath.log(1 - x[j]));
            double theta = 2 * Math.PI * x[j + BLOCK / 2];
            x[j] = radius * StrictMath.cos(theta);
            x[j + BLOCK / 2] = radius * StrictMath.sin(theta);
        }
    }
}
