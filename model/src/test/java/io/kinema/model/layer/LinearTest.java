package io.kinema.model.layer;

import static org.assertj.core.api.Assertions.assertThat;

import io.kinema.compute.Backend;
import io.kinema.compute.DenseWeight;
import io.kinema.compute.Operand;
import io.kinema.compute.Precision;
import io.kinema.compute.Tensor;
import io.kinema.compute.Weight;
import io.kinema.compute.Workspace;
import io.kinema.model.GoldenCase;
import io.kinema.model.TestBackends;
import io.kinema.weights.DType;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.function.Supplier;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Low-rank deltas on shapes that are nobody's model. */
class LinearTest {
    private static final int ROWS = 7;
    private static final int IN = 16;
    private static final int OUT = 21;
    private static final int RANK = 3;

    static Iterable<Supplier<Backend>> backends() {
        return TestBackends.all();
    }

    private final Random random = new Random(11);

    private float[] normal(int n, double spread) {
        float[] values = new float[n];
        for (int i = 0; i < n; i++) {
            values[i] = Float.float16ToFloat(Float.floatToFloat16((float) (spread * random.nextGaussian())));
        }
        return values;
    }

    private static Weight matrix(Backend backend, Workspace memory, DType dtype, float[] values, int n, int k) {
        Tensor t = memory.allocate(dtype, n, k);
        backend.copy(Tensor.ofFloats(values, n, k), t);
        return new DenseWeight(t);
    }

    private static Weight columnMajor(Backend backend, Workspace memory, DType dtype, float[] values, int n, int k) {
        Tensor t = memory.allocate(dtype, k, n);
        backend.copy(Tensor.ofFloats(values, n, k).permute(1, 0), t);
        return new DenseWeight(t.permute(1, 0));
    }

    /** The sequence of the rule, op by op, against the layer: bits, in every plan, at every scale, in both storage orders. */
    @ParameterizedTest
    @MethodSource("backends")
    void theLayerIsTheSequenceOfItsRule(Supplier<Backend> backends) {
        float[] x = normal(ROWS * IN, 3000);
        float[] w = normal(OUT * IN, 0.3);
        float[] a = normal(RANK * IN, 0.3);
        float[] b = normal(OUT * RANK, 0.3);
        for (Precision precision : Precision.values()) {
            for (DType stored : List.of(DType.F32, DType.F16)) {
                for (float factor : new float[] {0.75f, -0.5f}) {
                    try (Backend backend = backends.get(); Workspace memory = backend.workspace("test")) {
                        Execution run = new Execution(backend, precision, memory);
                        DType dtype = precision.operand();
                        Operand rows = run.prepare(Tensor.ofFloats(x, ROWS, IN));
                        LowRankDelta delta = new LowRankDelta(matrix(backend, memory, dtype, a, RANK, IN), matrix(backend, memory, dtype, b, OUT, RANK), factor);
                        for (Weight base : List.of(matrix(backend, memory, dtype, w, OUT, IN), columnMajor(backend, memory, dtype, w, OUT, IN))) {
                            Tensor out = memory.allocate(stored, ROWS, OUT);
                            new Linear(base, Optional.empty(), List.of(delta)).forward(run, rows, out);
                            assertThat(out.toFloats()).as("%s to %s times %s", precision, stored, factor)
                                    .isEqualTo(sequence(run, rows, base, delta, stored).toFloats());
                        }
                    }
                }
            }
        }
    }

    private static Tensor sequence(Execution run, Operand x, Weight base, LowRankDelta delta, DType stored) {
        Backend backend = run.backend();
        Tensor y = run.scratch().f32(ROWS, OUT);
        backend.linear(x, base, y);
        Tensor inner = run.scratch().f32(ROWS, RANK);
        backend.linear(x, delta.down(), inner);
        Tensor added = run.scratch().f32(ROWS, OUT);
        backend.linear(backend.prepare(inner, run.operand(), run.scratch()), delta.up(), added);
        float[] sum = y.toFloats();
        float[] d = added.toFloats();
        for (int i = 0; i < sum.length; i++) {
            sum[i] = Math.fma(delta.factor(), d[i], sum[i]);
        }
        Tensor out = run.scratch().allocate(stored, ROWS, OUT);
        backend.copy(Tensor.ofFloats(sum, ROWS, OUT), out);
        return out;
    }

    /** Activations of 1e5 are beyond FP16: A's product must get the row scale back before B sees it, or B's is too small by it. */
    @ParameterizedTest
    @MethodSource("backends")
    void rowScalesAreRestoredBeforeTheSecondFactor(Supplier<Backend> backends) {
        float[] x = normal(ROWS * IN, 20);
        for (int i = 0; i < x.length; i++) {
            x[i] *= 5000;
        }
        float[] a = normal(RANK * IN, 0.3);
        float[] b = normal(OUT * RANK, 0.3);
        Tensor[] results = new Tensor[2];
        for (int i = 0; i < 2; i++) {
            Precision precision = i == 0 ? Precision.FP32 : Precision.FP16_FP32RES;
            try (Backend backend = backends.get(); Workspace memory = backend.workspace("test")) {
                Execution run = new Execution(backend, precision, memory);
                DType dtype = precision.operand();
                Tensor out = memory.f32(ROWS, OUT);
                new Linear(matrix(backend, memory, dtype, new float[OUT * IN], OUT, IN), Optional.empty(),
                        List.of(new LowRankDelta(matrix(backend, memory, dtype, a, RANK, IN), matrix(backend, memory, dtype, b, OUT, RANK), 1)))
                        .forward(run, run.prepare(Tensor.ofFloats(x, ROWS, IN)), out);
                results[i] = Tensor.ofFloats(out.toFloats(), ROWS, OUT);
            }
        }
        assertThat(GoldenCase.relativeL2(results[1], results[0])).isLessThan(2e-3);
    }

    /** A rotated base R W with rotated rows gives W x; an adapter that saw the rotated rows gives something else entirely. */
    @ParameterizedTest
    @MethodSource("backends")
    void fieldReport12AdaptersSeeUnrotatedRows(Supplier<Backend> backends) {
        float[] x = normal(ROWS * IN, 1);
        float[] w = normal(OUT * IN, 0.3);
        float[] a = normal(RANK * IN, 0.3);
        float[] b = normal(OUT * RANK, 0.3);
        try (Backend backend = backends.get(); Workspace memory = backend.workspace("test")) {
            Execution run = new Execution(backend, Precision.FP32, memory);
            LowRankDelta delta = new LowRankDelta(matrix(backend, memory, DType.F32, a, RANK, IN), matrix(backend, memory, DType.F32, b, OUT, RANK), 1);
            Operand rows = Operand.of(Tensor.ofFloats(x, ROWS, IN));
            Operand rotatedRows = Operand.of(Tensor.ofFloats(rotated(x), ROWS, IN));
            Tensor expected = memory.f32(ROWS, OUT);
            new Linear(matrix(backend, memory, DType.F32, w, OUT, IN), Optional.empty(), List.of(delta)).forward(run, rows, expected);
            Linear rotatedBase = new Linear(matrix(backend, memory, DType.F32, rotated(w), OUT, IN), Optional.empty(), List.of(delta));
            Tensor right = memory.f32(ROWS, OUT);
            rotatedBase.forward(run, rotatedRows, rows, right);
            assertThat(GoldenCase.relativeL2(right, expected)).isLessThan(1e-6);
            Tensor wrong = memory.f32(ROWS, OUT);
            rotatedBase.forward(run, rotatedRows, wrong);
            assertThat(GoldenCase.relativeL2(wrong, expected)).as("an adapter fed rotated rows is noise").isGreaterThan(0.1);
        }
    }

    /** Every row times the regular Hadamard matrix of order 16 over 4: symmetric and orthogonal. */
    private static float[] rotated(float[] rows) {
        float[] four = {1, 1, 1, -1, 1, 1, -1, 1, 1, -1, 1, 1, -1, 1, 1, 1};
        float[] out = new float[rows.length];
        for (int r = 0; r < rows.length / IN; r++) {
            for (int i = 0; i < IN; i++) {
                double sum = 0;
                for (int k = 0; k < IN; k++) {
                    sum += four[(i / 4) * 4 + k / 4] * four[(i % 4) * 4 + k % 4] * rows[r * IN + k] / 4.0;
                }
                out[r * IN + i] = (float) sum;
            }
        }
        return out;
    }
}
