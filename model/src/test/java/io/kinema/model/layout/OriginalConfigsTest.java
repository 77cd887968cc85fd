package io.kinema.model.layout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kinema.weights.BadWeightsException;
import java.io.IOException;
import java.util.Map;
import java.util.TreeMap;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The original configs, translated, are the released configs of the diffusers layout, field by field. */
class OriginalConfigsTest {
    private static final String DIT = "FL2VA/transformer/config.json";
    private static final String VIDEO = "FL2VA/video_vae/config.json";
    private static final String VIDEO_SOURCE = "FL2VA/video_vae/source/config.json";
    private static final String AUDIO = "FL2VA/audio_vae/config.json";
    private static final String AUDIO_METADATA = "FL2VA/audio_vae/metadata.json";

    @Test
    void transformer() {
        same(OriginalConfigs.transformer(Released.json(DIT)), Released.json("transformer/config.json"));
    }

    @Test
    void videoVae() {
        same(OriginalConfigs.videoVae(Released.json(VIDEO), Released.json(VIDEO_SOURCE)), Released.json("vae/config.json"));
    }

    @Test
    void audioVae() {
        same(OriginalConfigs.audioVae(Released.json(AUDIO), Released.json(AUDIO_METADATA)), Released.json("audio_vae/config.json"));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "ffn_hidden_size    | null   | original transformer config: ffn_hidden_size is missing",
        "hidden_size        | \"x\"  | original transformer config: hidden_size is \"x\"",
        "adaln_out_features | 96767  | original transformer config: adaln_out_features is 96767, expected 96768, as the other fields say",
        "final_adaln_out_features | 1 | original transformer config: final_adaln_out_features is 1, expected 10752"})
    void aWrongTransformerConfigIsNamed(String field, String value, String message) throws IOException {
        ObjectNode json = changed(DIT, field, value);
        refused(() -> OriginalConfigs.transformer(json), message);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "use_vit_decoder    | false  | use_vit_decoder is false, expected true",
        "causal_decoder     | true   | causal_decoder is true, expected false",
        "pixel_norm_type    | \"half\" | pixel_norm_type is \"half\", expected imagenet",
        "scaling_factor     | 2.0    | scaling_factor is 2.0, expected 1.0",
        "vae_ratio          | 8      | vae_ratio is 8, expected 16, as the other fields say",
        "z_channels         | 16     | z_channels is 16, expected 24, as the other fields say",
        "vit_decoder_kwargs | null   | vit_decoder_kwargs",
        "vit_decoder_kwargs | {\"heads\":32,\"norm_type\":\"layer_norm\"} | norm_type is \"layer_norm\", expected rms_norm"})
    void aVideoVaeOfAnotherKindIsNamed(String field, String value, String message) throws IOException {
        ObjectNode source = changed(VIDEO_SOURCE, field, value);
        refused(() -> OriginalConfigs.videoVae(Released.json(VIDEO), source), message);
    }

    @Test
    void audioConfigsThatDisagreeAreNamed() throws IOException {
        ObjectNode wrapper = changed(AUDIO, "sample_rate", "16000");
        refused(() -> OriginalConfigs.audioVae(wrapper, Released.json(AUDIO_METADATA)), "sample_rate is 32000, expected 16000");
        refused(() -> OriginalConfigs.audioVae(Released.json(AUDIO), Released.json(AUDIO)), "metadata is missing");
        JsonNode vocoder = new ObjectMapper().readTree(Released.json(AUDIO_METADATA).toString().replace("bigvgan", "hifigan"));
        refused(() -> OriginalConfigs.audioVae(Released.json(AUDIO), vocoder), "decoder_type is \"hifigan\", expected bigvgan");
    }

    private static ObjectNode changed(String file, String field, String value) throws IOException {
        ObjectNode json = (ObjectNode) Released.json(file);
        return json.set(field, new ObjectMapper().readTree(value));
    }

    private static void refused(ThrowingCallable call, String message) {
        assertThatExceptionOfType(BadWeightsException.class).isThrownBy(call).withMessageContaining(message)
                .satisfies(e -> assertThat(e.getMessage()).doesNotContain("\n"));
    }

    /** Numbers by value: the two publications write the same doubles with different digits. */
    private static void same(JsonNode translated, JsonNode released) {
        assertThat(values(translated)).isEqualTo(values(released));
    }

    private static Map<String, Object> values(JsonNode json) {
        Map<String, Object> values = new TreeMap<>();
        json.properties().stream().filter(e -> !e.getKey().equals("_diffusers_version")).forEach(e -> values.put(e.getKey(), value(e.getValue())));
        return values;
    }

    private static Object value(JsonNode node) {
        if (node.isArray()) {
            return node.valueStream().map(OriginalConfigsTest::value).toList();
        }
        return node.isNumber() ? (Object) node.asDouble() : node.asText();
    }
}
