package io.kinema.model.adapter;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class KeyStyleTest {
    @Test
    void namesOutsideOfBlocksAreOfTheStyleThatHasThem() {
        assertThat(style("transformer.proj_out.diff", "transformer.transformer_blocks.0.attn.to_q.diff")).startsWith("diffusers module names, prefix transformer.");
        assertThat(style("audio_proj_in.lora_A.weight", "norm_out.linear.lora_A.weight")).startsWith("diffusers module names, no prefix");
        assertThat(style("final_layer.video_out.lora_A.weight", "blocks.0.attn.qkv_proj.lora_A.weight")).startsWith("original module names");
        assertThat(style("lora_unet_video_patch_proj.lora_down.weight")).startsWith("flattened original module names");
        assertThat(style("lora_unet_transformer_blocks_0_attn_to_q.lora_down.weight")).startsWith("flattened diffusers module names");
        assertThat(style("lora_unet_token_refiner_blocks_0_mlp_fc1.lora_down.weight")).startsWith("flattened original module names");
    }

    private static String style(String... names) {
        return KeyStyle.describe(Stream.of(names).map(name -> AdapterKey.parse(name).orElseThrow()).toList());
    }
}
