package io.kinema.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kinema.compute.BackendOptions;
import io.kinema.compute.MatrixLayout;
import io.kinema.compute.Precision;
import io.kinema.compute.collective.RowReduction;
import io.kinema.model.layout.WeightLayout;
import io.kinema.model.load.HostWeights;
import io.kinema.model.load.WeightResidency;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class EngineOptionsJsonTest {
    private static final EngineOptions ALL = EngineOptions.builder().model(Path.of("m")).transformer(Path.of("t.safetensors")).transformerLayout(WeightLayout.COMFYUI)
            .device("cuda:1").precision(Precision.FP16_FP32RES).threads(3)
            .backend(new BackendOptions(Optional.of("flash"), OptionalInt.of(64), OptionalInt.of(70), OptionalLong.of(1L << 34)))
            .fp16WeightLayout(MatrixLayout.COLUMN).weightOffload(WeightResidency.LAYER)
            .residency(new ResidencyOptions(HostWeights.PINNED, OptionalInt.of(7), OptionalLong.of(1L << 35), PreparedWeightsOptions.of("/var/cache/weights"))).vaePrecision(Precision.FP16_FP32RES)
            .ranks(RankOptions.DEFAULTS.withTensorParallel(2).withResidual(new ResidualOptions(true, RowReduction.Mode.PEER, OptionalLong.of(3L << 29)))).graphReplay(GraphReplay.OFF).build();

    @Test
    void everyOptionComesBack() {
        ObjectNode json = EngineOptionsJson.write(ALL);
        assertThat(EngineOptionsJson.read(json)).isEqualTo(ALL);
        assertThat(EngineOptionsJson.read(EngineOptionsJson.write(EngineOptions.defaults()))).isEqualTo(EngineOptions.defaults());
        int values = EngineOptions.class.getRecordComponents().length - 4 + BackendOptions.class.getRecordComponents().length
                + ResidencyOptions.class.getRecordComponents().length + RankOptions.class.getRecordComponents().length - 2
                + ResidualOptions.class.getRecordComponents().length;
        // The backend's options and those of residency, ranks and residual rows stand beside the others; why a route was chosen is no option, nor is the
        // timeout of ranks.
        assertThat(json.size()).as("one field for each option: a new one has to be written and read here").isEqualTo(values);
    }

    @Test
    void fieldsReplaceThoseOfTheBase() throws IOException {
        EngineOptions over = EngineOptionsJson.over(ALL, new ObjectMapper().readTree("{\"precision\": \"fp32\", \"threads\": 1}"));
        assertThat(EngineOptionsJson.write(over).put("precision", "fp16-fp32res").put("threads", 3).put("fp16_weight_layout", "column"))
                .as("the layout of FP16 weights goes with their plan").isEqualTo(EngineOptionsJson.write(ALL));
    }

    @Test
    void aReductionGoesWithTheSharingOutOfRows() throws IOException {
        EngineOptions over = EngineOptionsJson.over(ALL, new ObjectMapper().readTree("{\"residual_sequence_parallel\": false}"));
        assertThat(over.ranks().residual()).isEqualTo(ResidualOptions.DEFAULTS);
        over = EngineOptionsJson.over(ALL, new ObjectMapper().readTree("{\"residual_reduction\": \"native\"}"));
        assertThat(over.ranks().residual()).isEqualTo(new ResidualOptions(true, RowReduction.Mode.NATIVE, OptionalLong.empty()));
    }

    @ParameterizedTest
    @ValueSource(strings = {"{\"speed\": 1}", "[]", "{\"threads\": \"2\"}", "{\"threads\": 99999999999}", "{\"threads\": true}", "{\"device\": 1}", "{\"precision\": \"fp8\"}",
            "{\"threads\": 0}", "{\"tensor_parallel\": 3}", "{\"tensor_parallel\": \"2\"}", "{\"tensor_parallel\": 0}",
            "{\"residual_sequence_parallel\": 1}", "{\"residual_sequence_parallel\": true, \"residual_reduction\": \"ring\"}", "{\"residual_reduction\": \"peer\"}",
            "{\"residual_sequence_parallel\": true, \"residual_reduction_memory_gib\": 2}",
            "{\"residual_sequence_parallel\": true, \"residual_reduction\": \"peer\", \"residual_reduction_memory_gib\": 0}",
            "{\"residual_sequence_parallel\": true, \"residual_reduction\": \"peer\", \"residual_reduction_memory_gib\": \"2\"}",
            "{\"fp16_weight_layout\": \"row\"}", "{\"fp16_weight_layout\": \"diagonal\", \"precision\": \"fp16-fp32res\"}", "{\"transformer_layout\": \"sideways\"}",
            "{\"host_weights\": \"tape\"}", "{\"resident_layers\": 3}", "{\"resident_layers\": -1, \"weight_offload\": \"layer\"}", "{\"max_host_memory\": 0}"})
    void whatIsNoOptionIsRefused(String text) throws IOException {
        var json = new ObjectMapper().readTree(text);
        assertThatExceptionOfType(BadRequestException.class).isThrownBy(() -> EngineOptionsJson.read(json));
    }
}
