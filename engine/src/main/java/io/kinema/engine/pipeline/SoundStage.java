package io.kinema.engine.pipeline;

import io.kinema.compute.Backend;
import io.kinema.compute.Tensor;
import io.kinema.compute.Workspace;
import io.kinema.engine.layout.PackedLayout;
import io.kinema.model.StageTap;
import io.kinema.model.audio.AudioVae;
import java.util.Arrays;
import java.util.List;

/** Turns final audio latents into stereo samples. */
final class SoundStage {
    private SoundStage() {
    }

    /**
     * @param latents normalised (2, C, T)
     * @return left and right, samples in [-1, 1]
     */
    static List<float[]> decode(Backend backend, AudioVae vae, float[] latents, int count, PipelineTap tap) {
        FiniteValues.require("final audio latents", latents);
        float[] wide = vae.config().statistics().denormalise(latents, count);
        try (Workspace memory = backend.workspace("sound")) {
            Tensor samples = vae.decode(Tensor.ofFloats(wide, PackedLayout.AUDIO_CHANNELS, vae.config().latentChannels(), count),
                    StageTap.NONE, memory);
            float[] both = HostCopy.floats(backend, samples);
            FiniteValues.require("decoding the sound", both);
            int length = both.length / PackedLayout.AUDIO_CHANNELS;
            if (tap.looks()) {
                tap.floats("audio", both, 1, PackedLayout.AUDIO_CHANNELS, length);
            }
            return List.of(Arrays.copyOf(both, length), Arrays.copyOfRange(both, length, 2 * length));
        }
    }
}
