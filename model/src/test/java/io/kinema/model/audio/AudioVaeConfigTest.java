package io.kinema.model.audio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kinema.model.GoldenCase;
import io.kinema.weights.BadWeightsException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AudioVaeConfigTest {
    private static final Path TINY = GoldenCase.bundled().resolve("checkpoint/audio_vae/config.json");

    private static ObjectNode json() {
        return (ObjectNode) GoldenCase.json(TINY);
    }

    @Test
    void readsEverySize() {
        AudioVaeConfig config = AudioVaeConfig.read(json());
        assertThat(config.hop()).isEqualTo(800);
        assertThat(config.decoderChannels(4)).isEqualTo(1);
        assertThat(config.resblockDilations()).hasSize(3).allSatisfy(d -> assertThat(d).containsExactly(1, 3, 5));
    }

    @Test
    void aMissingFieldIsNamed() {
        for (String name : (Iterable<String>) json()::fieldNames) {
            if (!name.startsWith("_")) {
                ObjectNode without = json();
                without.remove(name);
                assertThatThrownBy(() -> AudioVaeConfig.read(without)).isInstanceOf(BadWeightsException.class)
                        .hasMessageContaining("audio VAE config: " + name + " is missing");
            }
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "decoder_rates | [5, 5, 2, 4, 2] | product is that of encoder_rates, 800",
        "decoder_kernel_sizes | [9, 9, 4, 8] | 5 kernels",
        "decoder_kernel_sizes | [9, 9, 4, 8, 7] | plus an even number",
        "decoder_kernel_sizes | [9, 9, 4, 8, 2] | plus an even number",
        "num_attention_heads | 7 | a multiple of num_attention_heads 7",
        "latent_dim | 124 | a multiple of",
        "decoder_dim | 31 | at least 2 to the number of decoder_rates",
        "encoder_dim | 65536 | after doubling",
        "encoder_rates | [2, 4, 4, 5, 0] | a whole number from 1",
        "resblock_kernel_sizes | [3, 7, 10] | odd kernels",
        "resblock_kernel_sizes | [3, 7] | 2 lists",
        "resblock_dilation_sizes | [1, 3, 5] | a list of at least one value",
        "sampling_rate | null | sampling_rate is null",
        "latents_mean | null | latents_mean is null",
        "latents_std | [1, 1, 1, 1, 1, 1, 1, -1] | positive numbers",
    })
    void aFieldThatCannotBeUsedIsNamed(String name, String value, String expected) throws Exception {
        ObjectNode json = json();
        json.set(name, new ObjectMapper().readTree(value));
        assertThatThrownBy(() -> AudioVaeConfig.read(json)).isInstanceOf(BadWeightsException.class)
                .hasMessageStartingWith("audio VAE config: ").hasMessageContaining(expected);
    }
}
