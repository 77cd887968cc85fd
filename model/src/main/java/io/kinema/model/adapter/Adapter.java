package io.kinema.model.adapter;

import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * An adapter in the diffusers layout's names, whatever its file called things. Owns nothing: its tensors belong to the
 * {@link AdapterFile} it came from.
 *
 * @param name         file name, for messages and records
 * @param sha256       hex digest of the file's content
 * @param recognition  what it was recognised as, and by what
 * @param keyStyle     how its file names things
 * @param tensors      tensors in the file
 * @param pairs        low-rank deltas, one for each layer reached
 * @param edits        full-rank edits
 * @param alpha        what scaled the pairs
 * @param partition    the transformer it was trained on, empty when nothing says so
 * @param contract     how to sample with it, empty when unknown: the request must then state its schedule
 */
public record Adapter(String name, String sha256, Recognition recognition, String keyStyle, int tensors, List<LowRankPair> pairs,
                      List<WeightEdit> edits, AlphaUsed alpha, Optional<Partition> partition, Optional<SamplingContract> contract) {
    public Adapter {
        pairs = List.copyOf(pairs);
        edits = List.copyOf(edits);
        Objects.requireNonNull(partition, "partition");
        Objects.requireNonNull(contract, "contract");
    }

    /**
     * @param artefact what it is, {@code unknown} for a file nobody here has seen
     * @param by       content hash, metadata, file name, or nothing
     */
    public record Recognition(String artefact, String by) {
        static final Recognition NONE = new Recognition("unknown", "nothing");
    }

    /**
     * The alpha that scaled the pairs.
     *
     * @param value a number, {@code rank}, {@code per module}, or {@code none} without pairs
     * @param from  who said so
     */
    public record AlphaUsed(String value, Source from) {
        /** Who says what alpha is. */
        public enum Source {
            /** The file itself. */
            FILE,
            /** It is known of this artefact. */
            KNOWN,
            /** Whoever opened the file. */
            CALLER
        }
    }

    /** True when it edits weights once, at load, and cannot be scaled or exchanged afterwards. */
    public boolean fused() {
        return !edits.isEmpty();
    }

    /** Modules that its pairs reach; the two halves of a SwiGLU's input projection are one. */
    public int modules() {
        return (int) pairs.stream().map(p -> p.target().module()).distinct().count();
    }

    /** The largest rank of its pairs, 0 without pairs. */
    public int rank() {
        return pairs.stream().mapToInt(LowRankPair::rank).max().orElse(0);
    }
}
