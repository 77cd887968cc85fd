package io.kinema.model.adapter;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Every name under which adapter files know the transformer's modules: the diffusers layout's, the original checkpoint's
 * (fused qkv_proj, fc1 with the gate half first), and both flattened with underscores.
 */
final class ModuleNames {
    private static final Map<String, String> STANDALONE = Map.of("proj_in", "video_patch_proj", "audio_proj_in", "audio_patch_proj",
            "context_embedder", "condition_proj", "time_embedder.linear_1", "time_embedder.proj_in", "time_embedder.linear_2",
            "time_embedder.proj_out", "norm_out.linear", "final_layer.adaln_proj.linear", "proj_out", "final_layer.video_out",
            "audio_proj_out", "final_layer.audio_out");
    private static final Pattern BLOCK = Pattern.compile("(transformer_blocks|token_refiner\\.refiner_blocks)\\.(\\d+)\\.(.+)");

    private final Map<String, ModulePlacement> placements = new HashMap<>();

    ModuleNames(TransformerTensors transformer) {
        transformer.shapes().keySet().stream().filter(n -> n.endsWith(".weight")).map(n -> n.substring(0, n.length() - ".weight".length()))
                .filter(m -> transformer.linear(m).isPresent()).forEach(this::add);
    }

    /** What rows of the module called {@code name} in a file are. */
    Optional<ModulePlacement> find(String name) {
        return Optional.ofNullable(placements.get(name));
    }

    /** True for a name that only the original checkpoint has. */
    static boolean original(String name) {
        String dotted = name.replace('_', '.');
        return dotted.startsWith("blocks.") || dotted.startsWith("token.refiner.blocks.")
                || STANDALONE.values().stream().anyMatch(own -> own.replace('_', '.').equals(dotted));
    }

    private void add(String module) {
        put(module, module.endsWith(TransformerTensors.STACKED_HALVES) ? ModulePlacement.valueThenGate(module) : ModulePlacement.whole(module));
        if (STANDALONE.containsKey(module)) {
            put(STANDALONE.get(module), ModulePlacement.whole(module));
        }
        Matcher block = BLOCK.matcher(module);
        if (block.matches()) {
            String original = (block.group(1).equals("transformer_blocks") ? "blocks." : "token_refiner.blocks.") + block.group(2) + ".";
            addToBlock(module, block.group(1) + "." + block.group(2) + ".", original, block.group(3));
        }
    }

    private void addToBlock(String module, String block, String original, String inner) {
        switch (inner) {
            case "attn.to_q" -> {
                put(original + "attn.qkv_proj", ModulePlacement.qkv(block + "attn.", true));
                put(block + "attn.to_qkv", ModulePlacement.qkv(block + "attn.", false));
                split(original, inner, "attn.q_proj", module);
            }
            case "attn.to_k" -> split(original, inner, "attn.k_proj", module);
            case "attn.to_v" -> split(original, inner, "attn.v_proj", module);
            case "attn.to_out.0" -> put(original + "attn.out_proj", ModulePlacement.whole(module));
            case "ff.net.0.proj" -> put(original + "mlp.fc1", ModulePlacement.gateThenValue(module));
            case "ff.net.2" -> put(original + "mlp.fc2", ModulePlacement.whole(module));
            default -> put(original + inner, ModulePlacement.whole(module));
        }
    }

    /** The original's fused projection taken apart, under either layout's name for a part. */
    private void split(String original, String inner, String split, String module) {
        put(original + inner, ModulePlacement.whole(module));
        put(original + split, ModulePlacement.whole(module));
    }

    private void put(String name, ModulePlacement placement) {
        placements.put(name, placement);
        placements.put(name.replace('.', '_'), placement);
    }
}
