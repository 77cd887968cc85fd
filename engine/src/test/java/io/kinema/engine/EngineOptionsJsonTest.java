package io.kinema.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kinema.compute.BackendOptions;
import io.kinema.compute.MatrixLayout;
import io.kinema.compute.Precision;
import io.kinema.model.layout.WeightLayout;
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
            .fp16WeightLayout(MatrixLayout.COLUMN).weightOffload(WeightResidency.LAYER).vaePrecision(Precision.FP16_FP32RES)
            .graphReplay(GraphReplay.OFF).build();

    @Test
    void everyOptionComesBack() {
        ObjectNode json = EngineOptionsJson.write(ALL);
        assertThat(EngineOptionsJson.read(json)).isEqualTo(ALL);
        assertThat(EngineOptionsJson.read(EngineOptionsJson.write(EngineOptions.defaults()))).isEqualTo(EngineOptions.defaults());
        int values = EngineOptions.class.getRecordComponents().length - 2 + BackendOptions.class.getRecordComponents().length;
        // The backend's options stand beside the others; why a route was chosen is no option.
        assertThat(json.size()).as("one field for each option: a new one has to be written and read here").isEqualTo(values);
    }

    @Test
    void fieldsReplaceThoseOfTheBase() throws IOException {
        EngineOptions over = EngineOptionsJson.over(ALL, new ObjectMapper().readTree("{\"precision\": \"fp32\", \"threads\": 1}"));
        assertThat(EngineOptionsJson.write(over).put("precision", "fp16-fp32res").put("threads", 3).put("fp16_weight_layout", "column"))
                .as("the layout of FP16 weights goes with their plan").isEqualTo(EngineOptionsJson.write(ALL));
    }

    @ParameterizedTest
    @ValueSource(strings = {"{\"speed\": 1}", "[]", "{\"threads\": \"2\"}", "{\"threads\": 99999999999}", "{\"threads\": true}", "{\"device\": 1}", "{\"precision\": \"fp8\"}",
            "{\"threads\": 0}", "{\"fp16_weight_layout\": \"row\"}", "{\"fp16_weight_layout\": \"diagonal\", \"precision\": \"fp16-fp32res\"}", "{\"transformer_layout\": \"sideways\"}"})
    void whatIsNoOptionIsRefused(String text) throws IOException {
        var json = new ObjectMapper().readTree(text);
        assertThatExceptionOfType(BadRequestException.class).isThrownBy(() -> EngineOptionsJson.read(json));
    }
}
