package io.kinema.model.audio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.FloatRange;
import net.jqwik.api.constraints.IntRange;

class WeightNormTest {
    @Property(tries = 100)
    void everyRowHasTheNormItWasGivenAndTheDirectionItHad(@ForAll long seed, @ForAll @IntRange(min = 1, max = 9) int rows,
                                                          @ForAll @IntRange(min = 1, max = 40) int length) {
        Random random = new Random(seed);
        float[] g = floats(random, rows);
        float[] v = floats(random, rows * length);
        float[] w = WeightNorm.fold(g, v);
        for (int r = 0; r < rows; r++) {
            double norm = norm(w, r, length);
            assertThat(norm).isCloseTo(Math.abs(g[r]), within(1e-6 * Math.abs(g[r]) + 1e-12));
            double ratio = g[r] / norm(v, r, length);
            for (int i = r * length; i < (r + 1) * length; i++) {
                assertThat((double) w[i]).isCloseTo(v[i] * ratio, within(1e-6 * Math.abs(v[i] * ratio) + 1e-12));
            }
        }
    }

    @Property(tries = 100)
    void theLengthOfADirectionDoesNotMatter(@ForAll long seed, @ForAll @FloatRange(min = 0.01f, max = 100) float factor) {
        Random random = new Random(seed);
        float[] g = floats(random, 3);
        float[] v = floats(random, 3 * 8);
        float[] longer = v.clone();
        for (int i = 0; i < longer.length; i++) {
            longer[i] *= factor;
        }
        float[] w = WeightNorm.fold(g, v);
        float[] same = WeightNorm.fold(g, longer);
        for (int i = 0; i < w.length; i++) {
            assertThat(same[i]).isCloseTo(w[i], within(2e-6f * Math.abs(w[i]) + 1e-12f));
        }
    }

    private static float[] floats(Random random, int n) {
        float[] values = new float[n];
        for (int i = 0; i < n; i++) {
            values[i] = (float) random.nextGaussian();
        }
        return values;
    }

    private static double norm(float[] values, int row, int length) {
        double sum = 0;
        for (int i = row * length; i < (row + 1) * length; i++) {
            sum += (double) values[i] * values[i];
        }
        return Math.sqrt(sum);
    }
}
