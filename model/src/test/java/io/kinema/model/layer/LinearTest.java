package io.kinema.model.layer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kinema.compute.Backend;
import io.kinema.compute.DenseWeight;
import io.kinema.compute.Operand;
import io.kinema.compute.Precision;
import io.kinema.compute.Rotation;
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
    private static final Rotation ROTATION = new Rotation(16);

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
        return TestWeights.dense(backend, memory, dtype, values, n, k);
    }

    /** Sizes that are nobody's model, with odd tails; the inputs are whole groups of 16. */
    private record Shape(int rows, int in, int out, int rank) {
    }

    private static final List<Shape> SHAPES = List.of(new Shape(7, IN, OUT, RANK), new Shape(1, 48, 5, 1), new Shape(19, 80, 67, 9));

    /**
     * The layer as it runs (rows rotated once, the delta added before the store) against the operations one by one with the
     * unrotated rows given to the adapter: bits, for every kind of base, in every plan, at every scale, with one adapter and two.
     */
    @ParameterizedTest
    @MethodSource("backends")
    void theLayerIsTheSequenceOfItsRule(Supplier<Backend> backends) {
        for (Shape s : SHAPES) {
            float[] x = normal(s.rows() * s.in(), 3000);
            float[] w = normal(s.out() * s.in(), 0.3);
            float[] a = normal(s.rank() * s.in(), 0.3);
            float[] b = normal(s.out() * s.rank(), 0.3);
            for (Precision precision : Precision.values()) {
                try (Backend backend = backends.get(); Workspace memory = backend.workspace("test")) {
                    Execution run = new Execution(backend, precision, memory);
                    DType dtype = precision.operand();
                    Operand rows = run.prepare(Tensor.ofFloats(x, s.rows(), s.in()));
                    Weight down = matrix(backend, memory, dtype, a, s.rank(), s.in());
                    Weight up = matrix(backend, memory, dtype, b, s.out(), s.rank());
                    TestWeights.kinds(backend, memory, dtype, w, s.out(), s.in(), ROTATION).forEach((kind, base) -> {
                        for (DType stored : List.of(DType.F32, DType.F16, DType.BF16)) {
                            for (List<Float> factors : List.of(List.<Float>of(), List.of(0.75f), List.of(-0.5f), List.of(0.75f, -0.5f))) {
                                List<LowRankDelta> deltas = factors.stream().map(f -> new LowRankDelta(down, up, f)).toList();
                                Tensor out = memory.allocate(stored, s.rows(), s.out());
                                new Linear(base, Optional.empty(), deltas).forward(run, rows, out);
                                assertThat(out.toFloats()).as("%s, %s, %s to %s times %s", s, kind, precision, stored, factors)
                                        .isEqualTo(sequence(run, rows, base, deltas, stored).toFloats());
                            }
                        }
                    });
                }
            }
        }
    }

    private static Tensor sequence(Execution run, Operand x, Weight base, List<LowRankDelta> deltas, DType stored) {
        Backend backend = run.backend();
        int rows = x.values().size(0);
        int columns = base.outFeatures();
        Tensor y = run.scratch().f32(rows, columns);
        backend.linear(base.rotation().map(r -> backend.rotate(x, r, run.scratch())).orElse(x), base, y);
        float[] sum = y.toFloats();
        for (LowRankDelta delta : deltas) {
            Tensor inner = run.scratch().f32(rows, delta.rank());
            backend.linear(x, delta.down(), inner);
            Tensor added = run.scratch().f32(rows, columns);
            backend.linear(backend.prepare(inner, run.operand(), run.scratch()), delta.up(), added);
            float[] d = added.toFloats();
            for (int i = 0; i < sum.length; i++) {
                sum[i] = Math.fma(delta.factor(), d[i], sum[i]);
            }
        }
        Tensor out = run.scratch().allocate(stored, rows, columns);
        backend.copy(Tensor.ofFloats(sum, rows, columns), out);
        return out;
    }

    /** Layers that read the same rows share one rotation, and get the bits that they get alone. */
    @ParameterizedTest
    @MethodSource("backends")
    void layersShareTheRotationOfTheirInput(Supplier<Backend> backends) {
        float[] x = normal(ROWS * IN, 3000);
        float[] w = normal(OUT * IN, 0.3);
        for (Precision precision : Precision.values()) {
            try (Backend backend = backends.get(); Workspace memory = backend.workspace("test")) {
                Execution run = new Execution(backend, precision, memory);
                Operand rows = run.prepare(Tensor.ofFloats(x, ROWS, IN));
                List<Linear> layers = TestWeights.kinds(backend, memory, precision.operand(), w, OUT, IN, ROTATION).values().stream().map(Linear::of).toList();
                PreparedInput input = PreparedInput.of(run, rows, layers);
                assertThat(input.rotated()).containsOnlyKeys(ROTATION);
                for (Linear layer : layers) {
                    Tensor shared = memory.f32(ROWS, OUT);
                    layer.forward(run, input, shared);
                    Tensor alone = memory.f32(ROWS, OUT);
                    layer.forward(run, rows, alone);
                    assertThat(shared.toFloats()).isEqualTo(alone.toFloats());
                }
                PreparedInput unprepared = PreparedInput.of(run, rows, List.of());
                assertThatThrownBy(() -> layers.getLast().forward(run, unprepared, memory.f32(ROWS, OUT)))
                        .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("expected Rotation[group=16]");
            }
        }
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

    /** A rotated base gives what the plain one gives; an adapter that saw the rotated rows would give something else entirely. */
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
            Tensor expected = memory.f32(ROWS, OUT);
            new Linear(matrix(backend, memory, DType.F32, w, OUT, IN), Optional.empty(), List.of(delta)).forward(run, rows, expected);
            DenseWeight rotated = new DenseWeight(TestWeights.dense(backend, memory, DType.F32, TestWeights.rotated(w, IN, ROTATION), OUT, IN).values(),
                    Optional.of(ROTATION));
            Tensor right = memory.f32(ROWS, OUT);
            new Linear(rotated, Optional.empty(), List.of(delta)).forward(run, rows, right);
            assertThat(GoldenCase.relativeL2(right, expected)).isLessThan(1e-6);
            Tensor wrong = memory.f32(ROWS, OUT);
            Operand misread = Operand.of(backend.rotate(rows, ROTATION, memory).values());
            new Linear(matrix(backend, memory, DType.F32, TestWeights.rotated(w, IN, ROTATION), OUT, IN), Optional.empty(), List.of(delta)).forward(run, misread, wrong);
            assertThat(GoldenCase.relativeL2(wrong, expected)).as("an adapter fed rotated rows is noise").isGreaterThan(0.1);
        }
    }
}
