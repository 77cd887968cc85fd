package io.kinema.model.layer;

import static org.assertj.core.api.Assertions.assertThat;

import io.kinema.compute.Backend;
import io.kinema.compute.DenseWeight;
import io.kinema.compute.Precision;
import io.kinema.compute.Tensor;
import io.kinema.compute.Workspace;
import io.kinema.model.GoldenCase;
import io.kinema.model.TestBackends;
import io.kinema.weights.DType;
import java.util.Random;
import java.util.function.Supplier;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class FeedForwardTest {
    private static final int ROWS = 5;
    private static final int HIDDEN = 24;
    private static final int INNER = 40;

    static Iterable<Supplier<Backend>> backends() {
        return TestBackends.all();
    }

    private static Linear matrix(Backend backend, Workspace memory, Random random, DType dtype, int n, int k, float scale) {
        float[] values = new float[n * k];
        for (int i = 0; i < values.length; i++) {
            values[i] = Float.float16ToFloat(Float.floatToFloat16(scale * (float) random.nextGaussian()));
        }
        Tensor t = memory.allocate(dtype, n, k);
        backend.copy(Tensor.ofFloats(values, n, k), t);
        return Linear.of(new DenseWeight(t));
    }

    /** The same network in a plan; the SwiGLU of gates and values near 1000 is beyond FP16's 65504. */
    private static float[] run(Backend backend, Precision precision) {
        Random random = new Random(7);
        try (Workspace memory = backend.workspace("test")) {
            Execution run = new Execution(backend, precision, memory);
            FeedForward.Weights w = new FeedForward.Weights(matrix(backend, memory, random, precision.operand(), INNER, HIDDEN, 200),
                    matrix(backend, memory, random, precision.operand(), INNER, HIDDEN, 200), matrix(backend, memory, random, precision.operand(), HIDDEN, INNER, 0.1f));
            float[] rows = new float[ROWS * HIDDEN];
            for (int i = 0; i < rows.length; i++) {
                rows[i] = Math.round(random.nextGaussian() * 16) / 16f;
            }
            Tensor x = run.operands(ROWS, HIDDEN);
            backend.copy(Tensor.ofFloats(rows, ROWS, HIDDEN), x);
            Tensor out = memory.f32(ROWS, HIDDEN);
            FeedForward.forward(run, w, x, out);
            return out.toFloats();
        }
    }

    @ParameterizedTest
    @MethodSource("backends")
    void survivesActivationsBeyondHalfPrecision(Supplier<Backend> backends) {
        try (Backend backend = backends.get()) {
            Tensor exact = Tensor.ofFloats(run(backend, Precision.FP32), ROWS, HIDDEN);
            Tensor half = Tensor.ofFloats(run(backend, Precision.FP16_FP32RES), ROWS, HIDDEN);
            assertThat(largest(exact)).as("the case is beyond FP16").isGreaterThan(65504);
            assertThat(GoldenCase.relativeL2(half, exact)).isLessThan(2e-3);
        }
    }

    private static float largest(Tensor t) {
        float largest = 0;
        for (float v : t.toFloats()) {
            largest = Math.max(largest, Math.abs(v));
        }
        return largest;
    }
}
