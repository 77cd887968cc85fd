package io.kinema.model.dit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kinema.model.GoldenCase;
import io.kinema.weights.BadWeightsException;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DitConfigTest {
    private static ObjectNode good() {
        return (ObjectNode) GoldenCase.json(GoldenCase.bundled().resolve("checkpoint/transformer/config.json"));
    }

    @Test
    void readsEverySize() {
        assertThat(DitConfig.read(good())).isEqualTo(new DitConfig(2, 32, 48, 3, 2, 80, 32, 8, 32, 32, 40, 24, 4, 10000, 1e-5f, 1e-5f, 1e-5f, Optional.empty()));
    }

    @Test
    void takesTheReferencesConstantsWhereTheyAreAbsent() {
        ObjectNode json = good();
        json.remove(java.util.List.of("rope_theta", "norm_eps", "qk_norm_eps", "final_norm_eps"));
        assertThat(DitConfig.read(json)).isEqualTo(DitConfig.read(good()));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "hidden_size         | 0                | transformer config: hidden_size is 0, expected a whole number from 1",
        "hidden_size         | -5               | transformer config: hidden_size is -5",
        "hidden_size         | 48.5             | transformer config: hidden_size is 48.5",
        "hidden_size         | \"48\"           | transformer config: hidden_size is \"48\"",
        "hidden_size         | 99999999999      | transformer config: hidden_size is 99999999999",
        "num_layers          | null             | transformer config: num_layers is null",
        "num_attention_heads | []               | transformer config: num_attention_heads is []",
        "rope_freq_dim       | 6                | transformer config: rope_freq_dim is 6, expected at most attention_head_dim / 6 = 5",
        "patch_size          | [2,2]            | transformer config: patch_size is [2, 2], expected three sizes",
        "patch_size          | [1024,1024,1024] | transformer config: patch_size is [1024, 1024, 1024], expected in_channels times",
        "rope_theta          | 0                | transformer config: rope_theta is 0",
        "norm_eps            | \"small\"        | transformer config: norm_eps is \"small\"",
        "_class_name         | \"UNet\"         | transformer config: _class_name is \"UNet\", expected MiniMaxH3Transformer3DModel",
    })
    void refusesWhatItCannotUse(String field, String value, String message) throws Exception {
        ObjectNode json = good();
        json.set(field, new com.fasterxml.jackson.databind.ObjectMapper().readTree(value));
        assertThatThrownBy(() -> DitConfig.read(json)).isInstanceOf(BadWeightsException.class).hasMessageStartingWith(message).hasMessageNotContaining("\n");
    }

    @ParameterizedTest
    @CsvSource({"hidden_size", "num_layers", "num_attention_heads", "attention_head_dim", "ffn_dim"})
    void asksForTheSizesOfABlock(String field) {
        ObjectNode json = good();
        json.remove(field);
        assertThatThrownBy(() -> DitConfig.read(json)).isInstanceOf(BadWeightsException.class).hasMessageContaining(field + " is missing");
    }

    @Test
    void refusesAnotherKindOfDocument() throws Exception {
        var list = new com.fasterxml.jackson.databind.ObjectMapper().readTree("[1]");
        assertThatThrownBy(() -> DitConfig.read(list)).isInstanceOf(BadWeightsException.class).hasMessageContaining("expected a JSON object");
    }
}
