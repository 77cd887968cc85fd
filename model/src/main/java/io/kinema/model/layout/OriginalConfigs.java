package io.kinema.model.layout;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kinema.model.load.ConfigFields;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The original layout's configs in the diffusers layout's terms, field by field. What the diffusers layout has no field for,
 * because every released model has one value, must have that value. Every complaint is a
 * {@link io.kinema.weights.BadWeightsException} that names the original field.
 */
public final class OriginalConfigs {
    /** Classes that the original configs name. */
    public static final String TRANSFORMER = "MiniMaxH3DiTModel";
    public static final String VIDEO_VAE = "MiniMaxH3VideoVAE";
    public static final String AUDIO_VAE = "MiniMaxH3AudioVAE";

    /** An object of further fields in the diffusers layout's terms. */
    static final String EXTENSION = "kinema";

    private static final int MANY = 1 << 16;
    static final Map<String, String> TRANSFORMER_FIELDS = new TreeMap<>(Map.ofEntries(
            Map.entry("num_attention_heads", "num_attention_heads"), Map.entry("attention_head_dim", "attention_head_dim"),
            Map.entry("hidden_size", "hidden_size"), Map.entry("num_layers", "num_layers"),
            Map.entry("token_refiner_num_layers", "num_refiner_layers"), Map.entry("ffn_hidden_size", "ffn_dim"),
            Map.entry("latents_dim", "in_channels"), Map.entry("audio_latents_dim", "audio_in_channels"),
            Map.entry("patch_size", "patch_size"), Map.entry("text_dim", "text_dim"), Map.entry("timestep_input_dim", "freq_dim"),
            Map.entry("time_embed_hidden_size", "time_embed_hidden_dim"), Map.entry("time_embed_dim", "time_embed_dim"),
            Map.entry("rope_inv_freq_len", "rope_freq_dim"), Map.entry("norm_eps", "norm_eps"),
            Map.entry("qk_norm_eps", "qk_norm_eps"), Map.entry("final_norm_eps", "final_norm_eps")));
    /** The original config does not state the base of the rotary frequencies; its weights hold the frequencies themselves. */
    private static final double ROPE_THETA = 10000;
    /** Modalities times the six parts of a block's modulation; the output norm has two. */
    static final int ADALN_PARTS = 18;
    static final int FINAL_ADALN_PARTS = 2;

    private OriginalConfigs() {
    }

    /** @param json {@code transformer/config.json} */
    public static JsonNode transformer(JsonNode json) {
        ConfigFields f = new ConfigFields("original transformer", json);
        f.only("_class_name", TRANSFORMER);
        ObjectNode out = named("MiniMaxH3Transformer3DModel");
        TRANSFORMER_FIELDS.forEach((from, to) -> copy(f, json, from, out, to));
        out.put("rope_theta", ROPE_THETA);
        long hidden = f.integer("hidden_size", 1, 1 << 20);
        derived(f, json, "adaln_out_features", ADALN_PARTS * hidden);
        derived(f, json, "final_adaln_out_features", FINAL_ADALN_PARTS * hidden);
        return extended(out, json);
    }

    /**
     * @param wrapper {@code video_vae/config.json}: the clip's timing and the latents' statistics
     * @param source  the config beside the weights: the network
     */
    public static JsonNode videoVae(JsonNode wrapper, JsonNode source) {
        ConfigFields w = new ConfigFields("original video VAE", wrapper);
        w.only("_class_name", VIDEO_VAE);
        w.only("vae_tile_size", "256");
        w.only("vae_tile_overlap_min", "64");
        ConfigFields s = new ConfigFields("original video VAE source", source);
        s.only("_class_name", "AutoencoderKLLegacy");
        requireReleasedKind(s);
        int latent = w.integer("latent_channels", 1, MANY);
        derived(s, source, "z_channels", latent);
        derived(s, source, "embed_dim", latent);
        ObjectNode out = named("AutoencoderKLMiniMaxH3").put("latent_channels", latent);
        copy(s, source, "in_channels", out, "in_channels");
        copy(s, source, "out_ch", out, "out_channels");
        ArrayNode channels = out.putArray("block_out_channels");
        int base = s.integer("ch", 1, MANY);
        s.integers("ch_mult", 1, MANY).forEach(m -> channels.add((long) base * m));
        copy(s, source, "num_res_blocks", out, "layers_per_block");
        copy(s, source, "space_down", out, "spatial_downsample_factors");
        copy(s, source, "time_down", out, "temporal_downsample_factors");
        derived(s, source, "vae_ratio", product(s.integers("space_down", 1, MANY)));
        derived(s, source, "vae_ratio_t", product(s.integers("time_down", 1, MANY)));
        out.put("norm_num_groups", 32).put("norm_eps", 1e-6);
        copy(s, source, "padding_mode", out, "spatial_padding_mode");
        decoder(s.object("vit_decoder_kwargs"), source.get("vit_decoder_kwargs"), out);
        copy(w, wrapper, "vae_clip_length", out, "clip_length");
        copy(w, wrapper, "vae_token_drop", out, "token_drop");
        copy(w, wrapper, "latents_mean", out, "latents_mean");
        copy(w, wrapper, "latents_std", out, "latents_std");
        return extended(out, wrapper);
    }

    private static void requireReleasedKind(ConfigFields source) {
        Map.of("use_3d_conv", "true", "use_vit_decoder", "true", "use_t_isolated_gn", "true", "causal_encoder", "true",
                "causal_decoder", "false", "pixel_norm_type", "imagenet", "scaling_factor", "1.0", "shift_factor", "0.0")
                .forEach(source::only);
    }

    private static void decoder(ConfigFields vit, JsonNode json, ObjectNode out) {
        Map.of("ffn_activation_fn", "silu", "ffn_use_gated", "true", "norm_affine", "true", "norm_type", "rms_norm",
                "qk_norm_affine", "false", "qk_norm_type", "rms_norm").forEach(vit::only);
        copy(vit, json, "num_layers", out, "decoder_num_layers");
        copy(vit, json, "heads", out, "decoder_num_attention_heads");
        copy(vit, json, "dim_head", out, "decoder_attention_head_dim");
        out.put("decoder_num_register_tokens", 4).put("decoder_ffn_mult", 4);
        copy(vit, json, "rope_theta", out, "decoder_rope_theta");
        copy(vit, json, "rope_dim_ratio", out, "decoder_rope_dim_ratio");
        out.put("decoder_norm_eps", 1e-5);
    }

    /**
     * @param wrapper  {@code audio_vae/config.json}: the latents' statistics
     * @param metadata {@code audio_vae/metadata.json}: the network
     */
    public static JsonNode audioVae(JsonNode wrapper, JsonNode metadata) {
        ConfigFields w = new ConfigFields("original audio VAE", wrapper);
        w.only("_class_name", AUDIO_VAE);
        ConfigFields k = new ConfigFields("original audio VAE", metadata).object("metadata").object("kwargs");
        JsonNode kwargs = metadata.get("metadata").get("kwargs");
        k.only("decoder_type", "bigvgan");
        k.only("attn_proj", "true");
        int latent = w.integer("latent_channels", 1, MANY);
        int rate = w.integer("sample_rate", 1, 1 << 20);
        derived(k, kwargs, "vae_latent_channels", latent);
        derived(k, kwargs, "sample_rate", rate);
        ObjectNode out = named("AutoencoderKLMiniMaxH3Audio").put("latent_channels", latent).put("sampling_rate", rate);
        for (String field : List.of("encoder_dim", "encoder_rates", "latent_dim", "decoder_dim", "decoder_rates")) {
            copy(k, kwargs, field, out, field);
        }
        ArrayNode kernels = out.putArray("decoder_kernel_sizes");
        k.integers("decoder_rates", 1, MANY).forEach(r -> kernels.add(2 * r - r % 2));
        out.put("num_attention_heads", 8);
        ArrayNode sizes = out.putArray("resblock_kernel_sizes");
        ArrayNode dilations = out.putArray("resblock_dilation_sizes");
        List.of(3, 7, 11).forEach(size -> {
            sizes.add(size);
            dilations.addArray().add(1).add(3).add(5);
        });
        copy(w, wrapper, "latents_mean", out, "latents_mean");
        copy(w, wrapper, "latents_std", out, "latents_std");
        return extended(out, wrapper);
    }

    /**
     * Adds what MiniMax's config has no field for: the fields of the object {@code kinema}, in the diffusers layout's terms, that
     * {@link OriginalConfigWriter} writes for models of other sizes than the released ones. MiniMax's own files have none.
     */
    private static ObjectNode extended(ObjectNode out, JsonNode original) {
        original.path(EXTENSION).properties().forEach(field -> out.set(field.getKey(), field.getValue()));
        return out;
    }

    private static ObjectNode named(String className) {
        return JsonNodeFactory.instance.objectNode().put("_class_name", className);
    }

    private static void copy(ConfigFields fields, JsonNode json, String from, ObjectNode out, String to) {
        if (!fields.has(from)) {
            throw fields.wrong(from, "missing", "a value");
        }
        out.set(to, json.get(from));
    }

    /** A field that repeats what others say; where it is there, it must agree. */
    private static void derived(ConfigFields fields, JsonNode json, String name, long value) {
        if (fields.has(name) && json.get(name).asLong(-1) != value) {
            throw fields.wrong(name, json.get(name), value + ", as the other fields say");
        }
    }

    private static long product(List<Integer> factors) {
        return factors.stream().mapToLong(Integer::longValue).reduce(1, Math::multiplyExact);
    }
}
