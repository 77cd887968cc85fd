package io.kinema.model.video;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kinema.model.GoldenCase;
import io.kinema.weights.BadWeightsException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class VideoVaeConfigTest {
    private static final Path TINY = GoldenCase.bundled().resolve("checkpoint/vae/config.json");

    private static ObjectNode json() {
        return (ObjectNode) GoldenCase.json(TINY);
    }

    @Test
    void readsEverySize() {
        VideoVaeConfig config = VideoVaeConfig.read(json());
        assertThat(config.spatialRatio()).isEqualTo(16);
        assertThat(config.temporalRatio()).isEqualTo(4);
        assertThat(config.timing()).isEqualTo(new ClipTiming(17, 4, 3));
        assertThat(config.decoder()).isEqualTo(new VideoVaeConfig.Vit(3, 2, 16, 4, 4, 100, 12, 1e-5f));
        assertThat(config.statistics().channels()).isEqualTo(config.latentChannels()).isEqualTo(8);
    }

    @Test
    void aMissingFieldIsNamed() {
        for (String name : (Iterable<String>) json()::fieldNames) {
            if (!name.startsWith("_")) {
                ObjectNode without = json();
                without.remove(name);
                assertThatThrownBy(() -> VideoVaeConfig.read(without)).isInstanceOf(BadWeightsException.class)
                        .hasMessageContaining("video VAE config: " + name + " is missing");
            }
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "latent_channels | 0 | a whole number from 1",
        "latent_channels | 7 | latents_mean is 8 numbers, expected 7",
        "latent_channels | 2.5 | latent_channels is 2.5",
        "block_out_channels | [] | a list of at least one value",
        "block_out_channels | [32, 48, 32, 32, 64] | multiples of norm_num_groups 32",
        "spatial_downsample_factors | [2, 2, 2, 2, 4] | a whole number from 1 to 2",
        "spatial_downsample_factors | [2, 2] | 5 factors, one per entry of block_out_channels",
        "temporal_downsample_factors | [1, 2, 2, 1, 2] | 1 wherever spatial_downsample_factors is 1",
        "spatial_padding_mode | 'replicate' | one of [reflect, constant]",
        "decoder_rope_dim_ratio | 0.7 | a positive multiple of 6 channels",
        "decoder_attention_head_dim | 9999999999 | a whole number",
        "token_drop | 5 | less than the 5 latent frames of a clip",
        "token_drop | -1 | a whole number from 0",
        "norm_eps | '\"x\"' | a number from 0.0 to 1.0",
        "latents_std | [1, 1, 1, 1, 1, 1, 1, 0] | positive numbers",
    })
    void aFieldThatCannotBeUsedIsNamed(String name, String value, String expected) throws Exception {
        ObjectNode json = json();
        String text = value.equals("replicate") ? "\"replicate\"" : value;
        json.set(name, new com.fasterxml.jackson.databind.ObjectMapper().readTree(text));
        assertThatThrownBy(() -> VideoVaeConfig.read(json)).isInstanceOf(BadWeightsException.class)
                .hasMessageStartingWith("video VAE config: ").hasMessageContaining(expected);
    }

    @Test
    void anotherNetworksConfigIsRefused() {
        ObjectNode json = json().put("_class_name", "AutoencoderKLWan");
        assertThatThrownBy(() -> VideoVaeConfig.read(json)).isInstanceOf(BadWeightsException.class).hasMessageContaining("AutoencoderKLMiniMaxH3");
    }

    @Test
    void onlyAnObjectIsAConfig() throws Exception {
        var list = new com.fasterxml.jackson.databind.ObjectMapper().readTree("[1]");
        assertThatThrownBy(() -> VideoVaeConfig.read(list)).isInstanceOf(BadWeightsException.class).hasMessageContaining("expected a JSON object");
    }
}
