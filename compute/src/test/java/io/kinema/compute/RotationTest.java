package io.kinema.compute;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.kinema.compute.cpu.CpuBackend;
import io.kinema.compute.reference.ReferenceBackend;
import io.kinema.compute.testing.Values;
import io.kinema.compute.testing.WeightKinds;
import io.kinema.weights.DType;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What is known of the rotation of published INT8 files, and what leaving it out costs. */
class RotationTest {

    static List<Supplier<Backend>> backends() {
        return List.of(ReferenceBackend::new, () -> CpuBackend.open(2));
    }

    @ParameterizedTest
    @ValueSource(ints = {4, 16, 64, 256})
    void theMatrixIsSymmetricAndOrthogonalAndItsRowsSumToOne(int group) {
        Rotation r = new Rotation(group);
        for (int i = 0; i < group; i++) {
            float sum = 0;
            for (int j = 0; j < group; j++) {
                assertThat(Math.abs(r.entry(i, j))).isEqualTo((float) (1 / Math.sqrt(group)));
                assertThat(r.entry(i, j)).isEqualTo(r.entry(j, i));
                sum += r.entry(i, j);
            }
            assertThat(sum).as("row %s", i).isEqualTo(1f);
            for (int other = 0; other < group; other++) {
                int row = i;
                int column = other;
                double product = IntStream.range(0, group).mapToDouble(k -> r.entry(row, k) * r.entry(column, k)).sum();
                assertThat(product).as("rows %s and %s", row, column).isEqualTo(i == other ? 1 : 0);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {16, 64, 256})
    void theMatrixIsTheProductOfItsFactors(int group) {
        int[][] four = {{1, 1, 1, -1}, {1, 1, -1, 1}, {1, -1, 1, 1}, {-1, 1, 1, 1}};
        Rotation r = new Rotation(group);
        for (int i = 0; i < group; i++) {
            for (int j = 0; j < group; j++) {
                double expected = r.factor();
                for (int digit = 1; digit < group; digit *= 4) {
                    expected *= four[i / digit % 4][j / digit % 4];
                }
                assertThat(r.entry(i, j)).isEqualTo((float) expected);
            }
        }
        assertThat(r.entry(group - 1, group - 1)).as("a Walsh-Hadamard matrix has another corner").isEqualTo(r.factor());
    }

    @ParameterizedTest
    @MethodSource("backends")
    void rotatingTwiceGivesTheRowsBack(Supplier<Backend> backends) {
        Tensor x = new Values(3).normal(9, 768);
        try (Backend backend = backends.get()) {
            for (int group : new int[] {4, 16, 64, 256}) {
                Tensor twice = WeightKinds.rotated(backend, WeightKinds.rotated(backend, x, new Rotation(group)), new Rotation(group));
                assertThat(Values.relativeL2(twice.toFloats(), x.toFloats())).isLessThan(3e-7);
            }
        }
    }

    /** One linear layer of 512 inputs against its FP32 original; 1.369 is sqrt(2 - 2 trace(R) / 256) for independent values. */
    @ParameterizedTest
    @MethodSource("backends")
    void withTheRotationAnInt8LayerIsOnePercentOffAndWithoutItIsNoise(Supplier<Backend> backends) {
        Values v = new Values(5);
        Tensor x = v.normal(64, 512);
        Tensor w = v.normal(160, 512);
        Rotation rotation = new Rotation(256);
        try (Backend backend = backends.get(); Workspace ws = backend.workspace("test")) {
            float[] expected = product(backend, Operand.of(x), new DenseWeight(w));
            Int8Weight right = WeightKinds.int8(WeightKinds.rotated(backend, w, rotation), Optional.of(rotation));
            Int8Weight forgotten = new Int8Weight(right.values(), right.scales(), Optional.empty());
            assertThat(Values.relativeL2(product(backend, backend.rotate(Operand.of(x), rotation, ws), right), expected)).isBetween(0.005, 0.015);
            assertThat(Values.relativeL2(product(backend, Operand.of(x), forgotten), expected)).isCloseTo(1.369, within(0.03));
        }
    }

    /** What the rotation is for: a few inputs of large weights spoil the scale of every row without it. */
    @ParameterizedTest
    @MethodSource("backends")
    void theRotationSpreadsOutliers(Supplier<Backend> backends) {
        Values v = new Values(6);
        Tensor x = v.normal(64, 512);
        Tensor w = v.normal(160, 512);
        Rotation rotation = new Rotation(256);
        try (Backend backend = backends.get(); Workspace ws = backend.workspace("test")) {
            for (int column : new int[] {7, 300}) {
                backend.scale(w.slice(1, column, column + 1), 30, w.slice(1, column, column + 1));
            }
            float[] expected = product(backend, Operand.of(x), new DenseWeight(w));
            double plain = Values.relativeL2(product(backend, Operand.of(x), WeightKinds.int8(w, Optional.empty())), expected);
            double rotated = Values.relativeL2(product(backend, backend.rotate(Operand.of(x), rotation, ws),
                    WeightKinds.int8(WeightKinds.rotated(backend, w, rotation), Optional.of(rotation))), expected);
            assertThat(rotated).isLessThan(plain / 2);
        }
    }

    /** The margin of the row scale: a row just below it, aligned with a row of R, grows by 16 and stays within FP16. */
    @ParameterizedTest
    @MethodSource("backends")
    void theLargestScaledRowSurvivesTheRotationInFp16(Supplier<Backend> backends) {
        Rotation rotation = new Rotation(256);
        float[] row = new float[256];
        for (int i = 0; i < row.length; i++) {
            row[i] = 1e6f * Math.signum(rotation.entry(3, i));
        }
        try (Backend backend = backends.get(); Workspace ws = backend.workspace("test")) {
            Operand prepared = backend.prepare(Tensor.ofFloats(row, 1, 256), DType.F16, ws);
            Operand rotated = backend.rotate(prepared, rotation, ws);
            float scale = rotated.rowScale().orElseThrow().toFloats()[0];
            assertThat(scale).isEqualTo(512f);
            assertThat(rotated.values().toFloats()[3] * scale).isCloseTo(1.6e7f, within(8e3f));
            assertThat(rotated.rotation()).contains(rotation);
        }
    }

    private static float[] product(Backend backend, Operand x, Weight w) {
        Tensor out = Values.empty(x.values().size(0), w.outFeatures());
        backend.linear(x, w, out);
        return out.toFloats();
    }
}
