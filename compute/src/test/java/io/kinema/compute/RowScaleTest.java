package io.kinema.compute;

import static org.assertj.core.api.Assertions.assertThat;

import io.kinema.compute.cpu.CpuBackend;
import io.kinema.compute.reference.ReferenceBackend;
import io.kinema.weights.DType;
import java.util.List;
import java.util.Random;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Rows prepared for FP16 operands: the table of scales, and what is left of the values. */
class RowScaleTest {
    private static final int COLUMNS = 37;

    private record Case(float largest, float scale, float stored) {
    }

    private static final List<Case> CASES = List.of(new Case(0, 1, 0), new Case(1, 1, 1), new Case(2047.9f, 1, 2048), new Case(2048, 2, 1024),
            new Case(2049, 2, 1024), new Case(65504, 32, 2047), new Case(1e6f, 512, 1953), new Case(3e38f, 0x1p117f, 1806));

    static Stream<Arguments> cases() {
        List<Supplier<Backend>> backends = List.of(ReferenceBackend::new, () -> CpuBackend.open(2));
        return backends.stream().flatMap(b -> CASES.stream().map(c -> Arguments.of(b, c)));
    }

    @ParameterizedTest
    @MethodSource("cases")
    void scalesArePowersOfTwoAndTheLargestValueSurvives(Supplier<Backend> backends, Case c) {
        Random random = new Random(1);
        float[] row = new float[COLUMNS];
        for (int i = 0; i < COLUMNS; i++) {
            row[i] = c.largest() * (2 * random.nextFloat() - 1);
        }
        row[20] = -c.largest();
        try (Backend backend = backends.get(); Workspace ws = backend.workspace("test")) {
            Operand prepared = backend.prepare(Tensor.ofFloats(row, 1, COLUMNS), DType.F16, ws);
            float scale = prepared.rowScale().orElseThrow().toFloats()[0];
            float[] values = prepared.values().toFloats();
            assertThat(scale).isEqualTo(c.scale());
            assertThat(Float.floatToRawIntBits(scale) & 0x7fffff).as("bits below the exponent").isZero();
            assertThat(values[20]).isEqualTo(-c.stored());
            for (int i = 0; i < COLUMNS; i++) {
                assertThat(Float.isFinite(values[i])).isTrue();
                double error = Math.abs((double) values[i] * scale - row[i]);
                assertThat(error).as("value %s of %s", i, row[i]).isLessThanOrEqualTo(Math.max(Math.abs(row[i]) * 0x1p-11, scale * 0x1p-25));
            }
        }
    }
}
