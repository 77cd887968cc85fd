package io.kinema.model.layout;

import io.kinema.model.load.Inventory;
import io.kinema.model.load.Inventory.Entry;
import io.kinema.model.load.Inventory.Rule;
import io.kinema.weights.Shape;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Where every tensor that a network reads lies in a layout of other names: the stored name and the order of its rows. Made from
 * the network's inventory and a few renaming rules, so a tensor cannot be in one of them and not in the other. Immutable.
 */
final class KeyMap {
    private final SequencedMap<String, Source> sources;
    private final Inventory stored;

    /**
     * One tensor.
     *
     * @param name  stored name
     * @param order which of its rows are read
     * @param shape sizes of what is read
     */
    record Source(String name, RowOrder order, Shape shape) {
    }

    /** Replaces what {@code from} matches of a name; the tensors it matches have this row order. */
    private record Rename(Pattern from, String to, RowOrder order) {
        static Rename of(String from, String to) {
            return of(from, to, new RowOrder.Same());
        }

        static Rename of(String from, String to, RowOrder order) {
            return new Rename(Pattern.compile(from), to, order);
        }
    }

    private KeyMap(SequencedMap<String, Source> sources, Inventory stored) {
        this.sources = Collections.unmodifiableSequencedMap(sources);
        this.stored = stored;
    }

    /** Names that a network reads, in its order, with where they lie. */
    SequencedMap<String, Source> sources() {
        return sources;
    }

    /** What a checkpoint in that layout holds, tensors that nothing reads included. */
    Inventory stored() {
        return stored;
    }

    /** The row order of q, k or v (part 0, 1 or 2) in the matrix that holds all three. */
    interface QkvRows {
        RowOrder of(int part);

        /** MiniMax's: head by head. */
        static QkvRows interleaved(int heads) {
            return part -> new RowOrder.Interleaved(part, heads);
        }

        /** ComfyUI's: one below the other. */
        static QkvRows stacked() {
            return part -> new RowOrder.Stacked(part, 3);
        }
    }

    /**
     * The transformer. {@code rope.inv_freq} is not read: it is a function of the config.
     *
     * @param inventory   of the diffusers layout
     * @param qkv         how the rows of q, k and v lie
     * @param frequencies rotary frequencies of an axis
     */
    static KeyMap transformer(Inventory inventory, QkvRows qkv, int frequencies) {
        return of(inventory, List.of(
                Rename.of("^transformer_blocks\\.", "blocks."),
                Rename.of("^token_refiner\\.refiner_blocks\\.", "token_refiner.blocks."),
                Rename.of("^proj_in\\.", "video_patch_proj."),
                Rename.of("^audio_proj_in\\.", "audio_patch_proj."),
                Rename.of("^context_embedder\\.", "condition_proj."),
                Rename.of("^time_embedder\\.linear_1\\.", "time_embedder.proj_in."),
                Rename.of("^time_embedder\\.linear_2\\.", "time_embedder.proj_out."),
                Rename.of("^norm_out\\.norm\\.", "final_layer.norm."),
                Rename.of("^norm_out\\.linear\\.", "final_layer.adaln_proj.linear."),
                Rename.of("^proj_out\\.", "final_layer.video_out."),
                Rename.of("^audio_proj_out\\.", "final_layer.audio_out."),
                Rename.of("\\.attn\\.to_q\\.", ".attn.qkv_proj.", qkv.of(0)),
                Rename.of("\\.attn\\.to_k\\.", ".attn.qkv_proj.", qkv.of(1)),
                Rename.of("\\.attn\\.to_v\\.", ".attn.qkv_proj.", qkv.of(2)),
                Rename.of("\\.attn\\.norm_q\\.", ".attn.q_norm."),
                Rename.of("\\.attn\\.norm_k\\.", ".attn.k_norm."),
                Rename.of("\\.attn\\.to_out\\.0\\.", ".attn.out_proj."),
                Rename.of("\\.ff\\.net\\.0\\.proj\\.", ".mlp.fc1.", new RowOrder.SwappedHalves()),
                Rename.of("\\.ff\\.net\\.2\\.", ".mlp.fc2.")),
                new Entry(RotaryFrequencies.NAME, Shape.of(frequencies), Rule.UNREAD));
    }

    /**
     * The video VAE. {@code decoder.mask_token} is not read: it served training only.
     *
     * @param inventory of the diffusers layout
     * @param heads     attention heads of the decoder
     * @param dim       width of the decoder
     */
    static KeyMap videoVae(Inventory inventory, int heads, int dim) {
        return of(inventory, List.of(
                Rename.of("^encoder\\.down_blocks\\.(\\d+)\\.resnets\\.", "encoder.down.$1.block."),
                Rename.of("^encoder\\.down_blocks\\.(\\d+)\\.downsamplers\\.0\\.", "encoder.down.$1.downsample."),
                Rename.of("\\.conv_shortcut\\.", ".nin_shortcut."),
                Rename.of("^decoder\\.proj_in\\.", "decoder.x_embedder."),
                Rename.of("\\.attn\\.to_q\\.", ".attn.to_qkv.", new RowOrder.Interleaved(0, heads)),
                Rename.of("\\.attn\\.to_k\\.", ".attn.to_qkv.", new RowOrder.Interleaved(1, heads)),
                Rename.of("\\.attn\\.to_v\\.", ".attn.to_qkv.", new RowOrder.Interleaved(2, heads)),
                Rename.of("\\.attn\\.to_out\\.0\\.", ".attn.to_out."),
                Rename.of("\\.ff\\.net\\.0\\.proj\\.", ".ff.w1.", new RowOrder.SwappedHalves()),
                Rename.of("\\.ff\\.net\\.2\\.", ".ff.w2.")),
                new Entry("decoder.mask_token", Shape.of(1, 1, dim), Rule.UNREAD));
    }

    /** A component whose names are the same in both layouts. */
    static KeyMap same(Inventory inventory) {
        return of(inventory, List.of());
    }

    private static KeyMap of(Inventory inventory, List<Rename> renames, Entry... unread) {
        SequencedMap<String, Source> sources = new LinkedHashMap<>();
        SequencedMap<String, Entry> stored = new LinkedHashMap<>();
        for (Entry entry : inventory.entries()) {
            Source source = source(entry, renames);
            sources.put(entry.name(), source);
            long[] dims = entry.shape().toArray();
            dims[0] = source.order().storedRows(dims[0]);
            stored.put(source.name(), new Entry(source.name(), Shape.of(dims), entry.rule()));
        }
        for (Entry entry : unread) {
            stored.put(entry.name(), entry);
        }
        return new KeyMap(sources, Inventory.of(stored.sequencedValues()));
    }

    private static Source source(Entry entry, List<Rename> renames) {
        String name = entry.name();
        RowOrder order = new RowOrder.Same();
        for (Rename rename : renames) {
            Matcher match = rename.from().matcher(name);
            if (match.find()) {
                name = match.replaceFirst(rename.to());
                order = order instanceof RowOrder.Same ? rename.order() : order;
            }
        }
        return new Source(name, order, entry.shape());
    }
}
