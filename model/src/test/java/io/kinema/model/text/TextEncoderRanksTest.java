package io.kinema.model.text;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kinema.compute.Backend;
import io.kinema.compute.Precision;
import io.kinema.compute.Tensor;
import io.kinema.compute.Workspace;
import io.kinema.compute.collective.BackendGroup;
import io.kinema.compute.collective.Traffic;
import io.kinema.compute.cpu.CpuBackend;
import io.kinema.model.GoldenCase;
import io.kinema.model.load.Parameters.Rounding;
import io.kinema.model.load.WeightResidency;
import io.kinema.weights.Checkpoint;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** One text encoder on several ranks; with four of them the two key heads are read by two ranks each. */
class TextEncoderRanksTest {
    private static final int LAYER = 4;

    private GoldenCase golden;
    private TextEncoderConfig config;
    private Checkpoint source;
    private TextEncoderInput input;

    @BeforeEach
    void open() {
        golden = GoldenCase.open(GoldenCase.bundled(), "text_encoder/one_image");
        input = TextEncoderGoldenTest.input(golden, golden.check("fp32").orElseThrow());
        config = TextEncoderConfig.read(GoldenCase.json(golden.weights().resolve("text_encoder/config.json")));
        source = Checkpoint.open(golden.weights().resolve("text_encoder"));
    }

    @AfterEach
    void close() {
        source.close();
        golden.close();
    }

    private static List<Backend> backends(int n) {
        return IntStream.range(0, n).<Backend>mapToObj(_ -> CpuBackend.open(1)).toList();
    }

    private Tensor one(Precision precision) {
        try (Backend backend = CpuBackend.open(1); TextEncoder encoder = TextEncoder.open(backend, source, config, LAYER, precision, Rounding.of(precision));
             Workspace memory = backend.workspace("test")) {
            return copy(encoder.encode(input, memory));
        }
    }

    private static Tensor copy(Tensor states) {
        return Tensor.ofFloats(states.toFloats(), states.shape().toArray());
    }

    @ParameterizedTest
    @CsvSource({"2, FP32, 1e-5", "4, FP32, 1e-5", "2, FP16_FP32RES, 3e-3", "4, FP16_FP32RES, 3e-3", "2, BF16_FP32RES, 2e-2", "4, BF16_FP32RES, 2e-2"})
    void ranksMakeWhatOneDoes(int ranks, Precision precision, double limit) {
        try (BackendGroup group = BackendGroup.of(backends(ranks), Duration.ofMinutes(10));
             RankedTextEncoder encoder = RankedTextEncoder.open(group, source, config, LAYER, precision, Rounding.of(precision), WeightResidency.COMPONENT);
             Workspace memory = group.backends().getFirst().workspace("test")) {
            List<String> seen = new ArrayList<>();
            Tensor states = copy(encoder.encode(input, memory, (name, _) -> seen.add(name)));
            assertThat(GoldenCase.relativeL2(states, one(precision))).isLessThanOrEqualTo(limit);
            assertThat(seen).contains("hidden_states_0", "hidden_states_" + LAYER).doesNotHaveDuplicates();
            assertThat(group.traffic()).extracting(Traffic::calls).as("two reductions a layer").containsOnly(2L * LAYER);
            assertThat(encoder.encode(input, memory).toFloats()).as("the same bits again").isEqualTo(states.toFloats());
        }
    }

    @Test
    void headsThatCannotBeSharedOutAreRefused() {
        assertThat(config.text().spreadsOver(4)).isTrue();
        assertThat(config.text().spreadsOver(3)).isFalse();
        try (BackendGroup group = BackendGroup.of(backends(3), Duration.ofMinutes(10))) {
            assertThatThrownBy(() -> RankedTextEncoder.open(group, source, config, LAYER, Precision.FP32, Rounding.AS_STORED, WeightResidency.COMPONENT))
                    .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("4 heads and 2 key heads for 3 ranks");
        }
    }
}
