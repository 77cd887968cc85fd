package io.kinema.engine.model;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kinema.engine.Geometries;
import io.kinema.weights.Checkpoint;
import io.kinema.weights.DType;
import io.kinema.weights.SafetensorsWriter;
import io.kinema.weights.SafetensorsWriter.Spec;
import io.kinema.weights.Shape;
import io.kinema.weights.StoredTensor;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/**
 * Writes a model of the diffusers layout as a partition of the original layout. The way back is written here by hand, so that
 * a mistake in the engine's own map does not hide itself.
 */
public final class OriginalCopy {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Path RELEASED = Geometries.ROOT.resolve("testdata/released");

    private final Path from;
    private final Path to;

    private OriginalCopy(Path from, Path to) {
        this.from = from;
        this.to = to;
    }

    /** The golden cases' tiny model as the partition of t2va and fl2va. */
    public static Path fl2va(Path to) throws IOException {
        return write(Geometries.TINY, "transformer", "FL2VA", to);
    }

    /** The golden cases' tiny model as the partition of ref2va. */
    public static Path ref2va(Path to) throws IOException {
        return write(Geometries.TINY, "transformer_ref", "Ref2VA", to);
    }

    private static Path write(Path from, String transformer, String partition, Path to) throws IOException {
        OriginalCopy copy = new OriginalCopy(from, Files.createDirectories(to));
        Files.copy(RELEASED.resolve(partition).resolve("model_index.json"), to.resolve("model_index.json"));
        for (String same : List.of("text_encoder", "tokenizer", "processor")) {
            copy.folder(same);
        }
        copy.transformer(transformer);
        copy.videoVae();
        copy.audioVae();
        return to;
    }

    private void folder(String name) throws IOException {
        Files.createDirectories(to.resolve(name));
        try (Stream<Path> files = Files.list(from.resolve(name))) {
            for (Path file : files.toList()) {
                Files.copy(file, to.resolve(name).resolve(file.getFileName()));
            }
        }
    }

    private void transformer(String name) throws IOException {
        JsonNode config = read(from.resolve(name).resolve("config.json"));
        Path folder = Files.createDirectories(to.resolve("transformer"));
        ObjectNode original = JSON.createObjectNode().put("_class_name", "MiniMaxH3DiTModel");
        for (String field : List.of("hidden_size", "num_layers", "num_attention_heads", "attention_head_dim", "patch_size", "text_dim",
                "time_embed_dim", "norm_eps", "qk_norm_eps", "final_norm_eps")) {
            original.set(field, config.get(field));
        }
        Map.of("num_refiner_layers", "token_refiner_num_layers", "ffn_dim", "ffn_hidden_size", "in_channels", "latents_dim", "audio_in_channels",
                "audio_latents_dim", "freq_dim", "timestep_input_dim", "time_embed_hidden_dim", "time_embed_hidden_size", "rope_freq_dim",
                "rope_inv_freq_len").forEach((diffusers, theirs) -> original.set(theirs, config.get(diffusers)));
        JSON.writeValue(folder.resolve("config.json").toFile(), original);
        int frequencies = config.get("rope_freq_dim").asInt();
        float[] frequency = new float[frequencies];
        for (int i = 0; i < frequencies; i++) {
            frequency[i] = (float) Math.pow(10000, -(double) i / frequencies);
        }
        try (Checkpoint weights = Checkpoint.open(from.resolve(name))) {
            List<Stored> tensors = stored(weights, config.get("num_attention_heads").asInt(), OriginalCopy::transformerName, "qkv_proj");
            tensors.add(new Stored(new Spec("rope.inv_freq", DType.F32, Shape.of(frequencies)), MemorySegment.ofArray(frequency)));
            write(folder.resolve("model.safetensors"), tensors);
        }
    }

    private void videoVae() throws IOException {
        JsonNode config = read(from.resolve("vae/config.json"));
        Path source = Files.createDirectories(to.resolve("video_vae/source"));
        ObjectNode wrapper = (ObjectNode) read(RELEASED.resolve("FL2VA/video_vae/config.json"));
        for (String field : List.of("latent_channels", "latents_mean", "latents_std")) {
            wrapper.set(field, config.get(field));
        }
        JSON.writeValue(to.resolve("video_vae/config.json").toFile(), wrapper);
        ObjectNode original = (ObjectNode) read(RELEASED.resolve("FL2VA/video_vae/source/config.json"));
        int base = config.get("block_out_channels").get(0).asInt();
        original.put("ch", base).put("embed_dim", config.get("latent_channels").asInt()).put("z_channels", config.get("latent_channels").asInt());
        original.putArray("ch_mult").addAll(config.get("block_out_channels").valueStream().map(c -> (JsonNode) JSON.getNodeFactory().numberNode(c.asInt() / base)).toList());
        original.set("num_res_blocks", config.get("layers_per_block"));
        original.set("space_down", config.get("spatial_downsample_factors"));
        original.set("time_down", config.get("temporal_downsample_factors"));
        ((ObjectNode) original.get("vit_decoder_kwargs")).put("num_layers", config.get("decoder_num_layers").asInt())
                .put("heads", config.get("decoder_num_attention_heads").asInt()).put("dim_head", config.get("decoder_attention_head_dim").asInt());
        JSON.writeValue(source.resolve("config.json").toFile(), original);
        try (Checkpoint weights = Checkpoint.open(from.resolve("vae"))) {
            int heads = config.get("decoder_num_attention_heads").asInt();
            List<Stored> tensors = stored(weights, heads, OriginalCopy::videoName, "to_qkv");
            int dim = heads * config.get("decoder_attention_head_dim").asInt();
            tensors.add(new Stored(new Spec("decoder.mask_token", DType.F32, Shape.of(1, 1, dim)), MemorySegment.ofArray(new float[dim])));
            write(source.resolve("model.safetensors"), tensors);
        }
    }

    private void audioVae() throws IOException {
        JsonNode config = read(from.resolve("audio_vae/config.json"));
        Path folder = Files.createDirectories(to.resolve("audio_vae"));
        ObjectNode wrapper = (ObjectNode) read(RELEASED.resolve("FL2VA/audio_vae/config.json"));
        for (String field : List.of("latent_channels", "latents_mean", "latents_std")) {
            wrapper.set(field, config.get(field));
        }
        wrapper.set("sample_rate", config.get("sampling_rate"));
        JSON.writeValue(folder.resolve("config.json").toFile(), wrapper);
        ObjectNode metadata = (ObjectNode) read(RELEASED.resolve("FL2VA/audio_vae/metadata.json"));
        ObjectNode kwargs = (ObjectNode) metadata.at("/metadata/kwargs");
        for (String field : List.of("encoder_dim", "encoder_rates", "latent_dim", "decoder_dim", "decoder_rates")) {
            kwargs.set(field, config.get(field));
        }
        kwargs.set("vae_latent_channels", config.get("latent_channels"));
        kwargs.set("sample_rate", config.get("sampling_rate"));
        JSON.writeValue(folder.resolve("metadata.json").toFile(), metadata);
        Files.copy(from.resolve("audio_vae/diffusion_pytorch_model.safetensors"), folder.resolve("model.safetensors"));
    }

    private record Stored(Spec spec, MemorySegment data) {
        static Stored of(String name, StoredTensor like, long rows, MemorySegment data) {
            long[] dims = like.shape().toArray();
            dims[0] = rows;
            return new Stored(new Spec(name, like.dtype(), Shape.of(dims)), data);
        }
    }

    private static List<Stored> stored(Checkpoint weights, int heads, UnaryOperator<String> rename, String fused) {
        List<Stored> out = new ArrayList<>();
        for (String name : weights.names()) {
            StoredTensor t = weights.get(name);
            if (name.contains(".to_q.")) {
                List<StoredTensor> parts = List.of(t, weights.get(name.replace(".to_q.", ".to_k.")), weights.get(name.replace(".to_q.", ".to_v.")));
                out.add(Stored.of(rename.apply(name).replace(".to_q.", "." + fused + "."), t, 3 * t.shape().dim(0), interleave(parts, heads)));
            } else if (name.contains(".net.0.proj.")) {
                long half = t.data().byteSize() / 2;
                out.add(Stored.of(rename.apply(name), t, t.shape().dim(0), join(List.of(t.data().asSlice(half), t.data().asSlice(0, half)))));
            } else if (!name.contains(".to_k.") && !name.contains(".to_v.")) {
                out.add(Stored.of(rename.apply(name), t, t.shape().dim(0), t.data()));
            }
        }
        return out;
    }

    /** Head by head: its q rows, its k rows, its v rows. */
    private static MemorySegment interleave(List<StoredTensor> qkv, int heads) {
        List<MemorySegment> pieces = new ArrayList<>();
        for (int h = 0; h < heads; h++) {
            for (StoredTensor part : qkv) {
                long head = part.data().byteSize() / heads;
                pieces.add(part.data().asSlice(h * head, head));
            }
        }
        return join(pieces);
    }

    private static MemorySegment join(List<MemorySegment> pieces) {
        MemorySegment all = MemorySegment.ofArray(new byte[(int) pieces.stream().mapToLong(MemorySegment::byteSize).sum()]);
        long at = 0;
        for (MemorySegment piece : pieces) {
            all.asSlice(at, piece.byteSize()).copyFrom(piece);
            at += piece.byteSize();
        }
        return all;
    }

    private static void write(Path file, List<Stored> tensors) {
        try (SafetensorsWriter writer = SafetensorsWriter.create(file, tensors.stream().map(Stored::spec).toList(), Map.of())) {
            tensors.forEach(t -> writer.put(t.spec().name(), t.data()));
            writer.commit();
        }
    }

    static String transformerName(String name) {
        String moved = name.replaceFirst("^proj_in\\.", "video_patch_proj.").replaceFirst("^audio_proj_in\\.", "audio_patch_proj.")
                .replaceFirst("^context_embedder\\.", "condition_proj.").replaceFirst("^time_embedder\\.linear_1\\.", "time_embedder.proj_in.")
                .replaceFirst("^time_embedder\\.linear_2\\.", "time_embedder.proj_out.").replaceFirst("^norm_out\\.norm\\.", "final_layer.norm.")
                .replaceFirst("^norm_out\\.linear\\.", "final_layer.adaln_proj.linear.").replaceFirst("^proj_out\\.", "final_layer.video_out.")
                .replaceFirst("^audio_proj_out\\.", "final_layer.audio_out.");
        return moved.replace("transformer_blocks.", "blocks.").replace("refiner_blocks.", "blocks.").replace(".norm_q.", ".q_norm.")
                .replace(".norm_k.", ".k_norm.").replace(".to_out.0.", ".out_proj.").replace(".ff.net.0.proj.", ".mlp.fc1.").replace(".ff.net.2.", ".mlp.fc2.");
    }

    private static String videoName(String name) {
        if (name.startsWith("encoder.")) {
            return name.replace("down_blocks.", "down.").replace("resnets.", "block.").replace("conv_shortcut.", "nin_shortcut.")
                    .replace("downsamplers.0.", "downsample.");
        }
        return name.replace("decoder.proj_in.", "decoder.x_embedder.").replace(".to_out.0.", ".to_out.").replace(".ff.net.0.proj.", ".ff.w1.")
                .replace(".ff.net.2.", ".ff.w2.");
    }

    private static JsonNode read(Path file) throws IOException {
        return JSON.readTree(file.toFile());
    }
}
