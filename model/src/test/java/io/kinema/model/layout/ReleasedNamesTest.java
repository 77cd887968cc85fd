package io.kinema.model.layout;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.kinema.model.dit.DitConfig;
import io.kinema.model.load.Inventory;
import io.kinema.model.load.Inventory.Rule;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** Every name of the released indexes is implied by the released config, with a shape that adds up to the released size, and none is left over. */
class ReleasedNamesTest {
    private static final String NATIVE_DIT = "FL2VA/transformer/";
    private static final JsonNode TRANSFORMER = Released.json("transformer/config.json");
    private static final JsonNode VIDEO = Released.json("vae/config.json");
    private static final JsonNode AUDIO = Released.json("audio_vae/config.json");
    private static final JsonNode TEXT = Released.json("FL2VA/text_encoder/config.json");

    @Test
    void transformerInTheDiffusersLayout() {
        Inventory all = Network.TRANSFORMER.stored(WeightLayout.DIFFUSERS, TRANSFORMER);
        assertThat(names(all)).hasSize(638).isEqualTo(indexed("transformer/diffusion_pytorch_model.safetensors.index.json.gz"));
        assertThat(bytes(all, 2)).isEqualTo(total("transformer/diffusion_pytorch_model.safetensors.index.json.gz"));
    }

    @Test
    void transformerInTheOriginalLayout() {
        JsonNode config = OriginalConfigs.transformer(Released.json(NATIVE_DIT + "config.json"));
        Inventory all = Network.TRANSFORMER.stored(WeightLayout.ORIGINAL, config);
        assertThat(names(all)).hasSize(535).isEqualTo(indexed(NATIVE_DIT + "model.safetensors.index.json.gz"));
        assertThat(bytes(all, 2)).isEqualTo(total(NATIVE_DIT + "model.safetensors.index.json.gz"));
        assertThat(all.find("blocks.49.attn.qkv_proj.weight").orElseThrow().shape().toArray()).containsExactly(21504, 5376);
        assertThat(all.find("blocks.0.mlp.fc1.weight").orElseThrow().shape().toArray()).containsExactly(28672, 5376);
        assertThat(all.find("rope.inv_freq").orElseThrow().shape().toArray()).containsExactly(16);
    }

    /** ComfyUI's repacks keep MiniMax's names; the pruned ones have a table in place of the timestep MLP, and narrow AdaLN projections. */
    @Test
    void transformerInComfyUisRepacks() {
        JsonNode config = OriginalConfigs.transformer(Released.json(NATIVE_DIT + "config.json"));
        Inventory whole = Network.TRANSFORMER.stored(WeightLayout.COMFYUI, config);
        assertThat(names(whole)).hasSize(535).isEqualTo(indexed(NATIVE_DIT + "model.safetensors.index.json.gz"));
        DitConfig pruned = DitConfig.read(config).with(Optional.of(new DitConfig.Curve(1025, 8)));
        Inventory all = Network.transformer(WeightLayout.COMFYUI, pruned);
        assertThat(names(all)).hasSize(532).contains("adaln_t_table").noneMatch(n -> n.startsWith("time_embedder."));
        assertThat(all.find("blocks.7.adaln_proj.linear.weight").orElseThrow().shape().toArray()).containsExactly(96768, 8);
        assertThat(all.find("final_layer.adaln_proj.linear.weight").orElseThrow().shape().toArray()).containsExactly(10752, 8);
        assertThat(all.find("adaln_t_table").orElseThrow().rule()).isEqualTo(Rule.FP32);
        assertThat(all.find("video_patch_proj.weight").orElseThrow().rule()).isEqualTo(Rule.FLOAT);
    }

    /** 932 tensors and 20,970,379,616 bytes are published: codes, a scale for each row, a marker for each matrix, the rest in 16 bits but for the FP32 islands. */
    @Test
    void theInt8RepackHasThePublishedSize() {
        DitConfig pruned = DitConfig.RELEASED.with(Optional.of(new DitConfig.Curve(1025, 8)));
        Inventory exact = Network.transformer(WeightLayout.ORIGINAL, pruned);
        int marker = "{\"format\":\"int8_tensorwise\",\"convrot\":true,\"convrot_groupsize\":256}".length();
        long bytes = 0;
        long tensors = 0;
        for (Inventory.Entry e : exact.entries()) {
            boolean coded = e.name().matches("blocks\\.\\d+\\.(attn\\.(qkv|out)_proj|mlp\\.fc[12])\\.weight");
            boolean wide = e.rule() == Rule.FP32 || e.rule() == Rule.UNREAD;
            bytes += coded ? e.shape().elements() + 4 * e.shape().dim(0) + marker : e.shape().elements() * (wide ? 4 : 2);
            tensors += coded ? 3 : 1;
        }
        assertThat(tensors).isEqualTo(932);
        assertThat(20_970_379_616L - bytes).as("bytes of the header").isBetween(60_000L, 200_000L);
    }

    @Test
    void videoVaeInTheDiffusersLayout() {
        Inventory all = Network.VIDEO_VAE.stored(WeightLayout.DIFFUSERS, VIDEO);
        assertThat(names(all)).hasSize(703).isEqualTo(indexed("vae/diffusion_pytorch_model.safetensors.index.json.gz"));
        assertThat(bytes(all, 4)).isEqualTo(total("vae/diffusion_pytorch_model.safetensors.index.json.gz"));
    }

    /** The original layout has no index for it: 560 names, and the diffusers layout's size plus the mask token. */
    @Test
    void videoVaeInTheOriginalLayout() {
        Inventory all = Network.VIDEO_VAE.stored(WeightLayout.ORIGINAL, VIDEO);
        assertThat(names(all)).hasSize(560);
        assertThat(bytes(all, 4)).isEqualTo(total("vae/diffusion_pytorch_model.safetensors.index.json.gz") + 2048 * 4);
    }

    @Test
    void textEncoder() {
        Inventory all = Network.TEXT_ENCODER.stored(WeightLayout.EITHER, TEXT);
        assertThat(names(all)).hasSize(1058).isEqualTo(indexed("FL2VA/text_encoder/model.safetensors.index.json.gz"));
        assertThat(bytes(all, 2)).isEqualTo(total("FL2VA/text_encoder/model.safetensors.index.json.gz"));
    }

    /** Its two files have the size of the tensors and a header: 605,429,308 bytes in the original layout. */
    @Test
    void audioVaeIsOneFileOfThePublishedSize() {
        Inventory all = Network.AUDIO_VAE.stored(WeightLayout.ORIGINAL, AUDIO);
        assertThat(all.entries()).hasSize(1087).allMatch(e -> e.rule() == Rule.FP32);
        assertThat(605_429_308L - bytes(all, 4)).isBetween(0L, 200_000L);
    }

    @Test
    void everyDiffusersNameComesFromOneOfTheOriginalNames() {
        for (Network network : List.of(Network.TRANSFORMER, Network.VIDEO_VAE)) {
            JsonNode config = network == Network.TRANSFORMER ? TRANSFORMER : VIDEO;
            KeyMap keys = network.keys(WeightLayout.ORIGINAL, config);
            Set<String> used = new TreeSet<>();
            keys.sources().values().forEach(s -> used.add(s.name()));
            Set<String> stored = names(keys.stored());
            stored.removeAll(used);
            assertThat(stored).containsExactly(network == Network.TRANSFORMER ? "rope.inv_freq" : "decoder.mask_token");
            assertThat(keys.sources().keySet()).containsExactlyElementsOf(network.inventory(config).entries().stream().map(Inventory.Entry::name).toList());
        }
    }

    private static Set<String> names(Inventory all) {
        Set<String> names = new TreeSet<>();
        all.entries().forEach(e -> names.add(e.name()));
        return names;
    }

    /** Data bytes when tensors that need not be FP32 have {@code width} bytes an element; what the original drops is FP32. */
    private static long bytes(Inventory all, int width) {
        return all.entries().stream().mapToLong(e -> e.shape().elements() * (e.rule() == Rule.FP32 || e.name().equals("rope.inv_freq") ? 4 : width)).sum();
    }

    private static Set<String> indexed(String file) {
        Set<String> names = new TreeSet<>();
        Released.json(file).get("weight_map").fieldNames().forEachRemaining(names::add);
        return names;
    }

    private static long total(String file) {
        return Released.json(file).at("/metadata/total_size").asLong();
    }
}
