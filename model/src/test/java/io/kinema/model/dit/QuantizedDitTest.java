package io.kinema.model.dit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kinema.compute.Backend;
import io.kinema.compute.Precision;
import io.kinema.compute.Rotation;
import io.kinema.compute.Tensor;
import io.kinema.compute.Workspace;
import io.kinema.model.GoldenCase;
import io.kinema.model.QuantizedTensors;
import io.kinema.model.RecordingTensors;
import io.kinema.model.StageTap;
import io.kinema.model.TestBackends;
import io.kinema.model.load.Parameters.Rounding;
import io.kinema.weights.BadWeightsException;
import io.kinema.weights.Checkpoint;
import io.kinema.weights.MemoryTensors;
import io.kinema.weights.TensorSource;
import java.util.Arrays;
import java.util.Optional;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A transformer with INT8 blocks: as far from the float one as eight bits are, rotated or not, in every plan. */
class QuantizedDitTest {
    /** Divides every input width of the small model. */
    private static final Rotation ROTATION = new Rotation(16);

    private GoldenCase golden;
    private DitInputs inputs;
    private DitConfig config;
    private Checkpoint source;

    static Iterable<Supplier<Backend>> backends() {
        return TestBackends.all();
    }

    @BeforeEach
    void open() {
        golden = GoldenCase.open(GoldenCase.bundled(), "transformer/ref2va");
        inputs = DitGoldenTest.inputs(golden, golden.check("fp32").orElseThrow());
        config = DitConfig.read(GoldenCase.json(golden.weights().resolve("config.json")));
        source = Checkpoint.open(golden.weights());
    }

    @AfterEach
    void close() {
        source.close();
        golden.close();
    }

    private Tensor velocities(Backend backend, TensorSource from, Precision precision) {
        try (Dit dit = Dit.open(backend, from, config, precision, Rounding.of(precision)); Workspace memory = backend.workspace("test")) {
            Velocities out = dit.evaluate(inputs, memory, StageTap.NONE);
            float[] a = out.video().toFloats();
            float[] b = out.audio().toFloats();
            float[] both = Arrays.copyOf(a, a.length + b.length);
            System.arraycopy(b, 0, both, a.length, b.length);
            return Tensor.ofFloats(both, both.length);
        }
    }

    @ParameterizedTest
    @MethodSource("backends")
    void eightBitsAreAPercentInEveryPlan(Supplier<Backend> backends) {
        try (Backend backend = backends.get(); MemoryTensors plain = QuantizedTensors.of(source, QuantizedTensors::blockMatrix, Optional.empty());
             MemoryTensors rotated = QuantizedTensors.of(source, QuantizedTensors::blockMatrix, Optional.of(ROTATION))) {
            Tensor exact = velocities(backend, source, Precision.FP32);
            for (Precision precision : Precision.values()) {
                assertThat(GoldenCase.relativeL2(velocities(backend, plain, precision), exact)).as("int8, %s", precision).isBetween(1e-4, 0.03);
                assertThat(GoldenCase.relativeL2(velocities(backend, rotated, precision), exact)).as("rotated int8, %s", precision).isBetween(1e-4, 0.03);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("backends")
    void aFileWhoseMarkerIsMissingIsRefused(Supplier<Backend> backends) {
        String marker = "transformer_blocks.1.ff.net.2.comfy_quant";
        try (Backend backend = backends.get(); MemoryTensors whole = QuantizedTensors.of(source, QuantizedTensors::blockMatrix, Optional.of(ROTATION));
             MemoryTensors without = without(whole, marker)) {
            assertThatThrownBy(() -> velocities(backend, without, Precision.FP32)).isInstanceOf(BadWeightsException.class).hasMessageContaining(marker);
        }
    }

    private static MemoryTensors without(TensorSource all, String name) {
        MemoryTensors.Builder rest = MemoryTensors.builder("cut");
        all.names().stream().filter(n -> !n.equals(name)).map(all::get).forEach(t -> rest.put(t.name(), t.dtype(), t.data(), t.shape().toArray()));
        return rest.build();
    }

    /** The tables need the timestep's weights; a step must not find, or ask for, any of them. */
    @ParameterizedTest
    @MethodSource("backends")
    void adaLayerNormWeightsAreReadForTheTablesAndNeverInTheLoop(Supplier<Backend> backends) {
        try (Backend backend = backends.get(); RecordingTensors read = new RecordingTensors(Checkpoint.open(golden.weights()));
             Dit dit = Dit.open(backend, read, config, Precision.FP16_FP32RES, Rounding.F16); Workspace memory = backend.workspace("test")) {
            assertThat(read.read()).as("opening").noneMatch(QuantizedDitTest::ofTimesteps);
            read.forget();
            try (Modulation modulation = dit.modulation(inputs.timesteps())) {
                long expected = source.names().stream().filter(QuantizedDitTest::ofTimesteps).count();
                assertThat(read.read()).as("tables").hasSize((int) expected).allMatch(QuantizedDitTest::ofTimesteps);
                read.forget();
                try (DitSequence sequence = dit.prepare(inputs.layout(), inputs.text())) {
                    dit.forward(sequence, modulation, inputs.rowTimesteps(), inputs.video(), inputs.audio(), Velocities.allocate(memory, config, inputs.layout()));
                }
                assertThat(read.read()).as("a step").isEmpty();
            }
        }
    }

    private static boolean ofTimesteps(String name) {
        return name.contains("adaln_proj") || name.startsWith("time_embedder.") || name.startsWith("norm_out.linear");
    }
}
