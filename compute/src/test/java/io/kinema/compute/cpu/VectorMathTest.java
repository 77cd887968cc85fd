package io.kinema.compute.cpu;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import jdk.incubator.vector.FloatVector;
import org.junit.jupiter.api.Test;

/** Elementary functions against FP64. */
class VectorMathTest {
    private static final int COUNT = 16_384;

    private static float[] uniform(long seed, float low, float high) {
        Random random = new Random(seed);
        float[] x = new float[COUNT];
        for (int i = 0; i < COUNT; i++) {
            x[i] = random.nextFloat(low, high);
        }
        return x;
    }

    private interface Function {
        FloatVector apply(FloatVector x);
    }

    private static float[] map(float[] x, Function f) {
        float[] y = new float[x.length];
        for (int i = 0; i < x.length; i += Lanes.COUNT) {
            f.apply(Lanes.load(x, i)).intoArray(y, i);
        }
        return y;
    }

    private static float one(float x, Function f) {
        return f.apply(Lanes.all(x)).lane(0);
    }

    /** e^x as softmax computes it. */
    private static float weight(float x) {
        float[] a = new float[Lanes.COUNT];
        a[0] = x;
        VectorMath.expOfDifferences(a, 1, 0);
        return a[0];
    }

    @Test
    void exponentialsAreWithinOneAndAHalfUlp() {
        float[] x = uniform(1, -86, 88.7f);
        float[] y = map(x, VectorMath::exp);
        float[] negative = uniform(2, -86, 0);
        float[] weights = negative.clone();
        VectorMath.expOfDifferences(weights, COUNT, 0);
        for (int i = 0; i < COUNT; i++) {
            assertThat(Math.abs(y[i] - Math.exp(x[i]))).as("exp(%s)", x[i]).isLessThan(1.5 * Math.ulp((float) Math.exp(x[i])));
            assertThat(Math.abs(weights[i] - Math.exp(negative[i]))).as("exp(%s)", negative[i])
                    .isLessThan(1.5 * Math.ulp((float) Math.exp(negative[i])));
        }
    }

    @Test
    void exponentialsOfTheExtremes() {
        assertThat(one(0, VectorMath::exp)).isEqualTo(1);
        assertThat(one(-200, VectorMath::exp)).isZero();
        assertThat(one(89, VectorMath::exp)).isInfinite();
        assertThat(one(Float.NaN, VectorMath::exp)).isNaN();
        assertThat(weight(Float.NEGATIVE_INFINITY)).isZero();
        assertThat(weight(0)).isEqualTo(1);
        assertThat(weight(Float.NaN)).isNaN();
        assertThat(one(-300, VectorMath::silu)).isZero();
        assertThat(one(300, VectorMath::silu)).isEqualTo(300);
    }

    @Test
    void squaredSinesAreAccurateUpToTheLimit() {
        for (float range : new float[] {1e-3f, 1, 10, 1000, 1e5f, VectorMath.SIN_LIMIT}) {
            for (float t : uniform(3, -range, range)) {
                double exact = Math.sin(t) * Math.sin(t);
                // The reduction keeps an absolute error that grows with t / pi.
                double reduction = Math.abs(t) * 0x1p-50 + 1e-30;
                assertThat(Math.abs(VectorMath.sinSquared(t) - exact)).as("sin(%s)^2", t)
                        .isLessThanOrEqualTo(4e-7 * exact + 2 * Math.sqrt(exact) * reduction + reduction * reduction);
            }
        }
    }

    @Test
    void lanesAreSummedInOneOrder() {
        float[] x = uniform(4, -1, 1);
        float[] lanes = new float[Lanes.COUNT];
        System.arraycopy(x, 0, lanes, 0, lanes.length);
        for (int half = lanes.length / 2; half > 0; half /= 2) {
            for (int i = 0; i < half; i++) {
                lanes[i] += lanes[half + i];
            }
        }
        assertThat(Lanes.sum(Lanes.load(x, 0))).isEqualTo(lanes[0]);
    }
}
