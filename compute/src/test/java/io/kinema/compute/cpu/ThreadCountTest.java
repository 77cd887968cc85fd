package io.kinema.compute.cpu;

import static org.assertj.core.api.Assertions.assertThat;

import io.kinema.compute.Backend;
import io.kinema.compute.testing.OpCase;
import io.kinema.compute.testing.OpCases;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The same bits at any thread count. */
class ThreadCountTest {
    private static List<CpuBackend> backends;

    @BeforeAll
    static void open() {
        backends = Stream.of(1, 2, 3, 7).map(CpuBackend::open).toList();
    }

    @AfterAll
    static void close() {
        backends.forEach(Backend::close);
    }

    static Stream<OpCase> cases() {
        return OpCases.all();
    }

    @ParameterizedTest
    @MethodSource("cases")
    void sameBits(OpCase op) {
        int[] expected = bits(op.on(backends.getFirst()));
        for (CpuBackend backend : backends) {
            for (int repeat = 0; repeat < 2; repeat++) {
                assertThat(Arrays.mismatch(bits(op.on(backend)), expected)).as("first differing element at %d threads", backend.threads()).isEqualTo(-1);
            }
        }
    }

    private static int[] bits(float[] values) {
        int[] bits = new int[values.length];
        for (int i = 0; i < bits.length; i++) {
            bits[i] = Float.floatToRawIntBits(values[i]);
        }
        return bits;
    }
}
