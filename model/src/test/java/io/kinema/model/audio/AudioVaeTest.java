package io.kinema.model.audio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kinema.compute.Backend;
import io.kinema.compute.Tensor;
import io.kinema.compute.Workspace;
import io.kinema.compute.reference.ReferenceBackend;
import io.kinema.model.AutoencoderPart;
import io.kinema.model.GoldenCase;
import io.kinema.model.StageTap;
import io.kinema.weights.DType;
import io.kinema.weights.MemoryTensors;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class AudioVaeTest {
    private final Backend backend = new ReferenceBackend();
    private final MemoryTensors weights = TinyAudioVae.weights(DType.F32);
    private final AudioVae vae = AudioVae.open(backend, weights, TinyAudioVae.CONFIG);
    private final Workspace memory = backend.workspace("test");

    @AfterEach
    void close() {
        memory.close();
        vae.close();
        weights.close();
        backend.close();
    }

    private static float[] random(long seed, int n) {
        Random random = new Random(seed);
        float[] values = new float[n];
        for (int i = 0; i < n; i++) {
            values[i] = (float) random.nextGaussian();
        }
        return values;
    }

    @ParameterizedTest
    @CsvSource({"1,1", "5,1", "6,1", "7,2", "12,2", "13,3", "60,10"})
    void samplesEncodeToAsManyLatentsAsHopsThatHoldThem(int samples, int latents) {
        AudioPosterior posterior = vae.encode(Tensor.ofFloats(random(1, 2 * samples), 2, 1, samples), StageTap.NONE, memory);
        assertThat(posterior.mean().shape().toArray()).containsExactly(2, 6, latents);
        assertThat(posterior.logs().shape()).isEqualTo(posterior.mean().shape());
    }

    @Test
    void silenceFillsTheLastHop() {
        float[] samples = random(2, 14);
        Tensor open = vae.encode(Tensor.ofFloats(samples, 1, 1, 14), StageTap.NONE, memory).mean();
        Tensor filled = vae.encode(Tensor.ofFloats(Arrays.copyOf(samples, 18), 1, 1, 18), StageTap.NONE, memory).mean();
        assertThat(open.toFloats()).isEqualTo(filled.toFloats());
    }

    @Test
    void channelsOfStereoDoNotMix() {
        float[] left = random(3, 24);
        float[] right = random(4, 24);
        float[] both = Arrays.copyOf(left, 48);
        System.arraycopy(right, 0, both, 24, 24);
        Tensor stereo = vae.encode(Tensor.ofFloats(both, 2, 1, 24), StageTap.NONE, memory).mean();
        Tensor mono = vae.encode(Tensor.ofFloats(right, 1, 1, 24), StageTap.NONE, memory).mean();
        assertThat(stereo.rows(1, 2).toFloats()).isEqualTo(mono.toFloats());
        Tensor sound = vae.decode(stereo, StageTap.NONE, memory);
        assertThat(sound.shape().toArray()).containsExactly(2, 1, 24);
        assertThat(sound.rows(1, 2).toFloats()).isEqualTo(vae.decode(mono, StageTap.NONE, memory).toFloats());
    }

    @Test
    void decodedSamplesAreClamped() {
        float[] loud = random(5, 6 * 8);
        for (int i = 0; i < loud.length; i++) {
            loud[i] *= 50;
        }
        float[] samples = vae.decode(Tensor.ofFloats(loud, 1, 6, 8), StageTap.NONE, memory).toFloats();
        assertThat(samples).contains(1f).contains(-1f);
        for (float s : samples) {
            assertThat(s).isBetween(-1f, 1f);
        }
    }

    @ParameterizedTest
    @EnumSource(value = DType.class, names = {"F64", "F16", "BF16"})
    void weightsMayBeStoredInAnyFloatType(DType dtype) {
        Tensor latents = Tensor.ofFloats(random(6, 6 * 8), 1, 6, 8);
        Tensor expected = vae.decode(latents, StageTap.NONE, memory);
        try (MemoryTensors other = TinyAudioVae.weights(dtype); AudioVae stored = AudioVae.open(backend, other, TinyAudioVae.CONFIG)) {
            double limit = dtype == DType.F64 ? 0 : dtype == DType.F16 ? 1e-2 : 1e-1;
            assertThat(GoldenCase.relativeL2(stored.decode(latents, StageTap.NONE, memory), expected)).isLessThanOrEqualTo(limit);
        }
    }

    @Test
    void buffersAreFoundByName() {
        assertThat(vae.buffer("conv_pre_weight").orElseThrow().shape().toArray()).containsExactly(8, 18, 7);
        assertThat(vae.buffer("up1_weight").orElseThrow().shape().toArray()).containsExactly(4, 2, 4);
        assertThat(vae.buffer("decoder.activation_post.upsample.filter").orElseThrow().elements()).isEqualTo(12);
        assertThat(vae.buffer("up2_weight")).isEmpty();
        assertThat(vae.buffer("no such buffer")).isEmpty();
    }

    @Test
    void refusesWhatItCannotCode() {
        assertThatThrownBy(() -> vae.encode(Tensor.ofFloats(new float[0], 1, 1, 0), StageTap.NONE, memory))
                .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("at least one sample");
        assertThatThrownBy(() -> vae.encode(Tensor.ofFloats(new float[8], 1, 2, 4), StageTap.NONE, memory))
                .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("expected [batch, 1, samples]");
        assertThatThrownBy(() -> vae.decode(Tensor.ofFloats(new float[5], 1, 5, 1), StageTap.NONE, memory))
                .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("expected [batch, 6, latents]");
    }

    @Test
    void aHalfThatWasNotLoadedCannotBeUsed() {
        try (AudioVae encoderOnly = AudioVae.open(backend, weights, TinyAudioVae.CONFIG, EnumSet.of(AutoencoderPart.ENCODER))) {
            assertThatThrownBy(() -> encoderOnly.decode(Tensor.ofFloats(new float[6], 1, 6, 1), StageTap.NONE, memory))
                    .isInstanceOf(IllegalStateException.class).hasMessageContaining("decoder was not loaded");
        }
    }

    @Test
    void closingTwiceIsHarmlessAndUseAfterCloseIsRefused() {
        vae.close();
        vae.close();
        assertThatThrownBy(() -> vae.decode(Tensor.ofFloats(new float[6], 1, 6, 1), StageTap.NONE, memory)).isInstanceOf(IllegalStateException.class);
    }
}
