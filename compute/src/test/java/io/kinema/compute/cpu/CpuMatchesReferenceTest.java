package io.kinema.compute.cpu;

import static org.assertj.core.api.Assertions.assertThat;

import io.kinema.compute.Backend;
import io.kinema.compute.reference.ReferenceBackend;
import io.kinema.compute.testing.OpCase;
import io.kinema.compute.testing.OpCases;
import io.kinema.compute.testing.Values;
import io.kinema.compute.testing.Widths;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Every operation at every vector width against the scalar oracle. */
class CpuMatchesReferenceTest {
    private static final int[] WIDTHS = {64, 128, 256, 512};
    private static final Map<Integer, Backend> BACKENDS = new HashMap<>();
    private static final Map<String, float[]> EXPECTED = new HashMap<>();

    static Stream<Arguments> cases() {
        return OpCases.all().flatMap(c -> java.util.Arrays.stream(WIDTHS).mapToObj(bits -> Arguments.of(c, bits)));
    }

    @ParameterizedTest(name = "{0}, {1} bits")
    @MethodSource("cases")
    void matches(OpCase op, int bits) {
        float[] expected = EXPECTED.computeIfAbsent(op.name(), n -> {
            try (Backend reference = new ReferenceBackend()) {
                return op.on(reference);
            }
        });
        float[] got = op.on(BACKENDS.computeIfAbsent(bits, b -> Widths.open(b, 2)));
        assertThat(got).hasSameSizeAs(expected);
        assertThat(Values.relativeL2(got, expected)).as("relative L2 of %s", op).isLessThanOrEqualTo(op.tolerance());
    }

    @AfterAll
    static void close() {
        BACKENDS.values().forEach(Backend::close);
        BACKENDS.clear();
    }
}
