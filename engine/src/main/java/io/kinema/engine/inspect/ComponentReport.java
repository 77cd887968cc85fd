package io.kinema.engine.inspect;

import io.kinema.model.layout.WeightLayout;
import io.kinema.weights.QuantizedTensors;
import io.kinema.weights.Shape;
import io.kinema.weights.TensorHeader;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * One component of a model.
 *
 * @param name       as the model's index calls it; the file's or folder's name otherwise
 * @param className  the reference implementation's class, where the index or the config states it
 * @param path       its folder or file
 * @param sharedWith an earlier component that uses the same folder
 * @param random     whether random values stand in for its weights
 * @param tensors    in file order; none for tokenizers and schedulers
 * @param metadata   strings in the headers of its files
 * @param fit        how names, shapes and dtypes compare with the config; empty where there is no config of an H3 network
 */
public record ComponentReport(String name, Optional<String> className, Path path, Optional<String> sharedWith, boolean random, List<TensorReport> tensors,
                              Map<String, String> metadata, Optional<Fit> fit) {
    /**
     * A network's tensors compared with its config.
     *
     * @param layout  how they are stored
     * @param problem what does not fit, in one line; empty when all that the config implies are there and none is left over
     */
    public record Fit(WeightLayout layout, Optional<String> problem) {
    }

    /**
     * One tensor's header entry. Scales and markers of a coded matrix are part of it.
     *
     * @param name     in the file
     * @param encoding a dtype's name, or how its values are coded
     * @param shape    sizes, outermost first
     * @param bytes    size of its data
     * @param coded    whether its values are coded
     * @param readable whether they can be read by this version
     * @param file     the file that holds it
     */
    public record TensorReport(String name, String encoding, Shape shape, long bytes, boolean coded, boolean readable, Path file) {
        /** Of a header. */
        static TensorReport of(TensorHeader header) {
            return new TensorReport(header.name(), header.encoding(), header.shape(), header.bytes(), header.dtype().isEmpty(), header.readable(), header.file());
        }
    }

    /**
     * What is stored in one encoding.
     *
     * @param name       a dtype's name, or how values are coded
     * @param tensors    how many tensors
     * @param parameters their elements
     * @param bytes      size of their data, scales included
     * @param coded      whether values are coded
     * @param readable   whether they can be read by this version
     */
    public record Encoding(String name, int tensors, long parameters, long bytes, boolean coded, boolean readable) {
        private Encoding with(TensorReport t) {
            return new Encoding(name, tensors + 1, parameters + t.shape().elements(), bytes + t.bytes(), coded, readable);
        }
    }

    public ComponentReport {
        tensors = List.copyOf(tensors);
        metadata = Map.copyOf(metadata);
    }

    /** The same component under another name. */
    ComponentReport named(String other) {
        return new ComponentReport(other, className, path, sharedWith, random, tensors, metadata, fit);
    }

    /** The same component, marked as being in the folder of an earlier one. */
    ComponentReport sharing(String owner) {
        return new ComponentReport(name, className, path, Optional.of(owner), random, tensors, metadata, fit);
    }

    /** Elements of all tensors. */
    public long parameters() {
        return tensors.stream().mapToLong(t -> t.shape().elements()).sum();
    }

    /** Bytes of all tensors. */
    public long bytes() {
        return tensors.stream().mapToLong(TensorReport::bytes).sum();
    }

    /** Files that hold tensors. */
    public List<Path> files() {
        return tensors.stream().map(TensorReport::file).distinct().toList();
    }

    /** What is stored in which encoding, by name. */
    public List<Encoding> encodings() {
        Map<String, Encoding> counts = new TreeMap<>();
        tensors.forEach(t -> counts.put(t.encoding(), counts.getOrDefault(t.encoding(),
                new Encoding(t.encoding(), 0, 0, 0, t.coded(), t.readable())).with(t)));
        return List.copyOf(counts.values());
    }

    /** Why it cannot run, where some of it is in an encoding that cannot be read. */
    public Optional<String> unreadable() {
        return tensors.stream().filter(t -> !t.readable()).findFirst().map(t -> encodings().stream().filter(e -> !e.readable())
                .map(e -> e.tensors() + " tensors are " + e.name()).collect(Collectors.joining(", ")) + " (the first is " + t.name() + "); understood are "
                + QuantizedTensors.UNDERSTOOD);
    }
}
