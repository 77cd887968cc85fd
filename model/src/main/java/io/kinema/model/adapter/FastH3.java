package io.kinema.model.adapter;

import io.kinema.weights.BadWeightsException;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** FastVideo's FastH3 files: low-rank pairs beside full-rank edits, counted in the metadata. */
final class FastH3 {
    private static final String FORMAT = "fastvideo-lora-v2";

    private FastH3() {
    }

    static boolean is(Map<String, String> metadata) {
        return FORMAT.equals(metadata.get("format"));
    }

    /** True for a tensor of the variant that was trained with block-sparse attention. */
    static boolean sparseGate(String name) {
        return name.endsWith(".attn.to_gate_compress.set_weight");
    }

    /**
     * Checks what the metadata states against the payload.
     *
     * @throws BadWeightsException when a counter, the rank or the model's name does not fit
     */
    static void check(String origin, Map<String, String> metadata, List<AdapterKey> keys, int rank) {
        String model = metadata.getOrDefault("finetuned_model", "").toLowerCase(Locale.ROOT);
        if (!model.startsWith("fastvideo/") || !model.contains("fasth3")) {
            throw new BadWeightsException(origin + ": metadata finetuned_model is '" + metadata.getOrDefault("finetuned_model", "")
                    + "', expected fastvideo/...FastH3...; this is another model's adapter");
        }
        // The counters are named for tensors; a pair is two of them, and either count is unambiguous.
        long lowRank = keys.stream().filter(k -> k.kind() == AdapterKey.Kind.DOWN || k.kind() == AdapterKey.Kind.UP).count();
        long stated = counter(origin, metadata, "low_rank_tensors", lowRank);
        if (stated != lowRank && 2 * stated != lowRank) {
            throw wrong(origin, "low_rank_tensors", stated, lowRank);
        }
        require(origin, metadata, "diff_tensors", keys.stream().filter(k -> k.kind() == AdapterKey.Kind.WEIGHT_DIFF || k.kind() == AdapterKey.Kind.BIAS_DIFF).count());
        require(origin, metadata, "set_weight_tensors", keys.stream().filter(k -> k.kind() == AdapterKey.Kind.SET_WEIGHT).count());
        if (metadata.containsKey("rank")) {
            require(origin, metadata, "rank", rank);
        }
    }

    private static void require(String origin, Map<String, String> metadata, String key, long found) {
        long stated = counter(origin, metadata, key, found);
        if (stated != found) {
            throw wrong(origin, key, stated, found);
        }
    }

    private static BadWeightsException wrong(String origin, String key, long stated, long found) {
        return new BadWeightsException(origin + ": metadata " + key + " is " + stated + ", the file has " + found + "; it is cut or edited, fetch it again");
    }

    private static long counter(String origin, Map<String, String> metadata, String key, long found) {
        try {
            return Long.parseLong(metadata.getOrDefault(key, "missing").strip());
        } catch (NumberFormatException e) {
            throw new BadWeightsException(origin + ": metadata " + key + " is " + metadata.getOrDefault(key, "missing") + ", expected " + found
                    + "; it is cut or edited, fetch it again", e);
        }
    }
}
