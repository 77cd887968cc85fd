package io.kinema.model.layout;

import com.fasterxml.jackson.databind.JsonNode;
import io.kinema.model.audio.AudioVaeConfig;
import io.kinema.model.audio.AudioVaeTensors;
import io.kinema.model.dit.DitConfig;
import io.kinema.model.dit.DitTensors;
import io.kinema.model.load.Inventory;
import io.kinema.model.text.TextEncoderConfig;
import io.kinema.model.text.TextEncoderTensors;
import io.kinema.model.video.VideoVaeConfig;
import io.kinema.model.video.VideoVaeTensors;
import io.kinema.weights.BadWeightsException;
import io.kinema.weights.TensorSource;
import java.util.Locale;

/** The networks of H3, with the tensors that their configs imply in each layout. Configs are in the diffusers layout's terms. */
public enum Network {
    TRANSFORMER {
        @Override
        public Inventory inventory(JsonNode config) {
            return DitTensors.of(DitConfig.read(config));
        }

        @Override
        KeyMap keys(WeightLayout layout, JsonNode config) {
            return transformerKeys(layout, DitConfig.read(config));
        }

        @Override
        void requireConstants(TensorSource stored, JsonNode config) {
            RotaryFrequencies.require(stored, DitConfig.read(config));
        }
    },
    VIDEO_VAE {
        @Override
        public Inventory inventory(JsonNode config) {
            return VideoVaeTensors.of(VideoVaeConfig.read(config));
        }

        @Override
        KeyMap keys(WeightLayout layout, JsonNode config) {
            VideoVaeConfig.Vit decoder = VideoVaeConfig.read(config).decoder();
            return KeyMap.videoVae(inventory(config), decoder.heads(), decoder.dim());
        }
    },
    AUDIO_VAE {
        @Override
        public Inventory inventory(JsonNode config) {
            return AudioVaeTensors.of(AudioVaeConfig.read(config));
        }
    },
    TEXT_ENCODER {
        @Override
        public Inventory inventory(JsonNode config) {
            return TextEncoderTensors.of(TextEncoderConfig.read(config), TextEncoderConfig.CONDITION_LAYER);
        }
    };

    /** What people call it: {@code video vae}. */
    public String label() {
        return name().toLowerCase(Locale.ROOT).replace('_', ' ');
    }

    /** The tensors that this config implies, in the diffusers layout. @throws BadWeightsException when the config is wrong */
    public abstract Inventory inventory(JsonNode config);

    /** Where those tensors lie in a layout of other names. */
    KeyMap keys(WeightLayout layout, JsonNode config) {
        return KeyMap.same(inventory(config));
    }

    /** Compares tensors that the original layout stores and the diffusers layout leaves to the engine with what the engine uses. */
    void requireConstants(TensorSource stored, JsonNode config) {
        // Most networks have none.
    }

    /** The tensors that this config implies, as a checkpoint of this layout stores them. */
    public Inventory stored(WeightLayout layout, JsonNode config) {
        return switch (layout) {
            case DIFFUSERS, EITHER -> inventory(config);
            case ORIGINAL -> keys(layout, config).stored();
            case COMFYUI -> repacked(keys(layout, config));
        };
    }

    /** The tensors of a transformer of these sizes, as a checkpoint of this layout stores them. */
    public static Inventory transformer(WeightLayout layout, DitConfig config) {
        return switch (layout) {
            case DIFFUSERS, EITHER -> DitTensors.of(config);
            case ORIGINAL -> transformerKeys(layout, config).stored();
            case COMFYUI -> repacked(transformerKeys(layout, config));
        };
    }

    private static KeyMap transformerKeys(WeightLayout layout, DitConfig config) {
        KeyMap.QkvRows qkv = layout == WeightLayout.COMFYUI ? KeyMap.QkvRows.stacked() : KeyMap.QkvRows.interleaved(config.heads());
        return KeyMap.transformer(DitTensors.of(config), qkv, config.ropeFrequencies());
    }

    /** Repacks narrow or code what MiniMax keeps in FP32, and are what they are. */
    private static Inventory repacked(KeyMap keys) {
        return keys.stored().anyFloat(DitTensors.CURVE_TABLE);
    }

    /** A transformer's weights as another program wrote them, without the prefix that some put before every name. @param stored owned by the result, and closed when this fails */
    public static TensorSource unprefixed(TensorSource stored) {
        return UnprefixedTensors.over(stored);
    }

    /**
     * The checkpoint under the names and in the row order that the network reads; names, shapes and dtypes are checked here,
     * data is not read.
     *
     * @param stored the checkpoint as it is; owned by the result, and closed when this fails
     * @throws BadWeightsException when a tensor is missing, unexpected, or not of the shape and dtype that the config implies
     */
    public TensorSource open(TensorSource stored, WeightLayout layout, JsonNode config) {
        try {
            stored(layout, config).require(stored);
            if (layout == WeightLayout.DIFFUSERS || layout == WeightLayout.EITHER) {
                return stored;
            }
            requireConstants(stored, config);
            return new OriginalTensors(stored, keys(layout, config));
        } catch (RuntimeException e) {
            stored.close();
            throw e;
        }
    }
}
