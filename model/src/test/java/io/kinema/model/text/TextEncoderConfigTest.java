package io.kinema.model.text;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kinema.model.GoldenCase;
import io.kinema.weights.BadWeightsException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TextEncoderConfigTest {
    private static ObjectNode good() {
        return (ObjectNode) GoldenCase.json(GoldenCase.bundled().resolve("checkpoint/text_encoder/config.json"));
    }

    @Test
    void readsEverySize() {
        TextEncoderConfig config = TextEncoderConfig.read(good());
        assertThat(config.text()).isEqualTo(new TextConfig(688, 32, 52, 4, 2, 16, 48, 1e-6f, 5e6, List.of(4, 2, 2)));
        assertThat(config.vision()).isEqualTo(new VisionConfig(5, 32, 4, 48, 3, 2, 16, 2, 6, 32, List.of(1, 2, 3), 10000));
        assertThat(config.imageToken()).isEqualTo(652);
        assertThat(config.videoToken()).isEqualTo(653);
    }

    @Test
    void readsTheNewerRopeParameters() {
        ObjectNode json = good();
        ObjectNode text = (ObjectNode) json.get("text_config");
        ObjectNode rope = (ObjectNode) text.remove("rope_scaling");
        rope.set("rope_theta", text.remove("rope_theta"));
        text.set("rope_parameters", rope);
        assertThat(TextEncoderConfig.read(json)).isEqualTo(TextEncoderConfig.read(good()));
    }

    @Test
    void interleavesTheAxes() {
        TextConfig text = TextEncoderConfig.read(good()).text();
        assertThat(java.util.stream.IntStream.range(0, 8).map(text::axisOf)).containsExactly(0, 1, 2, 0, 1, 2, 0, 0);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "/text_config   | hidden_size         | 0         | text encoder text_config config: hidden_size is 0",
        "/text_config   | num_key_value_heads | 3         | text encoder text_config config: num_key_value_heads is 3, expected a divisor",
        "/text_config   | head_dim            | 15        | text encoder text_config config: head_dim is 15, expected an even number",
        "/text_config   | hidden_act          | \"relu\"  | text encoder text_config config: hidden_act is \"relu\", expected silu",
        "/text_config   | attention_bias      | true      | text encoder text_config config: attention_bias is true, expected false",
        "/text_config/rope_scaling | mrope_section     | [4,2,1] | text encoder text_config rope_scaling config: mrope_section is [4, 2, 1], expected three numbers",
        "/text_config/rope_scaling | mrope_interleaved | false   | text encoder text_config rope_scaling config: mrope_interleaved is false, expected true",
        "/text_config/rope_scaling | rope_type         | \"yarn\" | text encoder text_config rope_scaling config: rope_type is \"yarn\", expected default",
        "/vision_config | num_position_embeddings  | 35      | text encoder vision_config config: num_position_embeddings is 35, expected a square number",
        "/vision_config | num_heads                | 3       | text encoder vision_config config: num_heads is 3",
        "/vision_config | out_hidden_size          | 48      | text encoder vision_config config: out_hidden_size is 48, expected the text tower's hidden_size = 32",
        "/vision_config | deepstack_visual_indexes | [1,5]   | text encoder vision_config config: deepstack_visual_indexes is 5",
        "/vision_config | deepstack_visual_indexes | [2,1]   | text encoder vision_config config: deepstack_visual_indexes is [2, 1], expected blocks in ascending order",
        "''             | image_token_id           | 688     | text encoder config: image_token_id is 688",
        "''             | model_type               | \"gpt2\" | text encoder config: model_type is \"gpt2\", expected qwen3_vl",
    })
    void refusesWhatItCannotUse(String at, String field, String value, String message) throws Exception {
        ObjectNode json = good();
        ((ObjectNode) json.at(at)).set(field, new ObjectMapper().readTree(value));
        assertThatThrownBy(() -> TextEncoderConfig.read(json)).isInstanceOf(BadWeightsException.class).hasMessageStartingWith(message).hasMessageNotContaining("\n");
    }

    @Test
    void asksForBothTowers() {
        ObjectNode json = good();
        json.remove("vision_config");
        assertThatThrownBy(() -> TextEncoderConfig.read(json)).isInstanceOf(BadWeightsException.class).hasMessageContaining("vision_config is missing");
    }

    @Test
    void allowsNoDeepstack() {
        ObjectNode json = good();
        ((ObjectNode) json.get("vision_config")).putArray("deepstack_visual_indexes");
        assertThat(TextEncoderConfig.read(json).vision().deepstack()).isEmpty();
    }
}
