package io.kinema.model.layout;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;

/**
 * The way back of {@link OriginalConfigs}: configs of the original layout from those of the diffusers layout. What MiniMax's
 * config has no field for, or another value, goes into its object {@code kinema}, so that nothing is lost.
 */
public final class OriginalConfigWriter {
    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;
    private static final String CONFIG = "config.json";

    private OriginalConfigWriter() {
    }

    /**
     * The files of a network's folder beside its weights, by path relative to it.
     *
     * @param config in the diffusers layout's terms
     */
    public static SequencedMap<String, JsonNode> files(Network network, JsonNode config) {
        return switch (network) {
            case TRANSFORMER -> transformer(config);
            case VIDEO_VAE -> videoVae(config);
            case AUDIO_VAE -> audioVae(config);
            case TEXT_ENCODER -> new LinkedHashMap<>(Map.of(CONFIG, config));
        };
    }

    /** Where the weights of a network lie in its folder. */
    public static String weights(Network network) {
        return network == Network.VIDEO_VAE ? "source/model.safetensors" : "model.safetensors";
    }

    private static SequencedMap<String, JsonNode> transformer(JsonNode config) {
        ObjectNode out = named(OriginalConfigs.TRANSFORMER);
        OriginalConfigs.TRANSFORMER_FIELDS.forEach((theirs, ours) -> copy(config, ours, out, theirs));
        long hidden = config.path("hidden_size").asLong();
        out.put("adaln_out_features", OriginalConfigs.ADALN_PARTS * hidden).put("final_adaln_out_features", OriginalConfigs.FINAL_ADALN_PARTS * hidden);
        SequencedMap<String, JsonNode> files = new LinkedHashMap<>();
        files.put(CONFIG, extended(out, config, OriginalConfigs.transformer(out)));
        return files;
    }

    private static SequencedMap<String, JsonNode> videoVae(JsonNode config) {
        ObjectNode wrapper = named(OriginalConfigs.VIDEO_VAE);
        wrapper.put("source_path", "source").put("source_class_name", "AutoencoderKLLegacy").put("source_safetensors_path", "model.safetensors")
                .put("vae_tile_size", 256).put("vae_tile_overlap_min", 64);
        copyAll(config, wrapper, Map.of("clip_length", "vae_clip_length", "token_drop", "vae_token_drop", "latent_channels", "latent_channels",
                "latents_mean", "latents_mean", "latents_std", "latents_std"));
        ObjectNode source = named("AutoencoderKLLegacy");
        copyAll(config, source, Map.of("in_channels", "in_channels", "out_channels", "out_ch", "layers_per_block", "num_res_blocks",
                "spatial_downsample_factors", "space_down", "temporal_downsample_factors", "time_down", "spatial_padding_mode", "padding_mode",
                "latent_channels", "z_channels"));
        copy(config, "latent_channels", source, "embed_dim");
        List<JsonNode> channels = config.path("block_out_channels").valueStream().toList();
        int base = Math.max(1, channels.isEmpty() ? 1 : channels.getFirst().asInt());
        source.put("ch", base);
        var multiples = source.putArray("ch_mult");
        channels.forEach(c -> multiples.add(Math.max(1, c.asInt() / base)));
        source.put("use_3d_conv", true).put("use_vit_decoder", true).put("use_t_isolated_gn", true).put("causal_encoder", true)
                .put("causal_decoder", false).put("pixel_norm_type", "imagenet").put("scaling_factor", 1.0).put("shift_factor", 0.0);
        ObjectNode vit = source.putObject("vit_decoder_kwargs");
        copyAll(config, vit, Map.of("decoder_num_layers", "num_layers", "decoder_num_attention_heads", "heads", "decoder_attention_head_dim", "dim_head",
                "decoder_rope_theta", "rope_theta", "decoder_rope_dim_ratio", "rope_dim_ratio"));
        vit.put("ffn_activation_fn", "silu").put("ffn_use_gated", true).put("norm_affine", true).put("norm_type", "rms_norm")
                .put("qk_norm_affine", false).put("qk_norm_type", "rms_norm");
        SequencedMap<String, JsonNode> files = new LinkedHashMap<>();
        files.put(CONFIG, extended(wrapper, config, OriginalConfigs.videoVae(wrapper, source)));
        files.put("source/" + CONFIG, source);
        return files;
    }

    private static SequencedMap<String, JsonNode> audioVae(JsonNode config) {
        ObjectNode wrapper = named(OriginalConfigs.AUDIO_VAE);
        wrapper.put("output_channel", 2).put("source_safetensors_path", "model.safetensors").put("source_metadata_path", "metadata.json");
        copyAll(config, wrapper, Map.of("sampling_rate", "sample_rate", "latent_channels", "latent_channels", "latents_mean", "latents_mean",
                "latents_std", "latents_std"));
        ObjectNode metadata = NODES.objectNode();
        ObjectNode kwargs = metadata.putObject("metadata").putObject("kwargs");
        List.of("encoder_dim", "encoder_rates", "latent_dim", "decoder_dim", "decoder_rates").forEach(f -> copy(config, f, kwargs, f));
        copy(config, "latent_channels", kwargs, "vae_latent_channels");
        copy(config, "sampling_rate", kwargs, "sample_rate");
        kwargs.put("decoder_type", "bigvgan").put("attn_proj", true);
        SequencedMap<String, JsonNode> files = new LinkedHashMap<>();
        files.put(CONFIG, extended(wrapper, config, OriginalConfigs.audioVae(wrapper, metadata)));
        files.put("metadata.json", metadata);
        return files;
    }

    /** @param back what the reader makes of {@code original} */
    private static ObjectNode extended(ObjectNode original, JsonNode config, JsonNode back) {
        ObjectNode more = NODES.objectNode();
        config.properties().stream().filter(f -> !f.getKey().startsWith("_") && !same(f.getValue(), back.path(f.getKey())))
                .forEach(f -> more.set(f.getKey(), f.getValue()));
        if (!more.isEmpty()) {
            original.set(OriginalConfigs.EXTENSION, more);
        }
        return original;
    }

    private static boolean same(JsonNode left, JsonNode right) {
        if (left.isNumber() && right.isNumber()) {
            return left.asDouble() == right.asDouble();
        }
        return left.isArray() && right.isArray() ? sameList(left, right) : left.equals(right);
    }

    private static boolean sameList(JsonNode left, JsonNode right) {
        boolean all = left.size() == right.size();
        for (int i = 0; all && i < left.size(); i++) {
            all = same(left.get(i), right.get(i));
        }
        return all;
    }

    private static void copyAll(JsonNode from, ObjectNode to, Map<String, String> fields) {
        fields.entrySet().stream().sorted(Map.Entry.comparingByKey()).forEach(f -> copy(from, f.getKey(), to, f.getValue()));
    }

    private static void copy(JsonNode from, String field, ObjectNode to, String as) {
        if (from.has(field)) {
            to.set(as, from.get(field));
        }
    }

    private static ObjectNode named(String className) {
        return NODES.objectNode().put("_class_name", className);
    }
}
