package io.kinema.engine.inspect;

import io.kinema.model.layout.WeightLayout;
import io.kinema.weights.DType;
import io.kinema.weights.Shape;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * One component of a model.
 *
 * @param name       as the model's index calls it; the file's or folder's name otherwise
 * @param className  the reference implementation's class, where the index or the config states it
 * @param path       its folder or file
 * @param sharedWith an earlier component that uses the same folder
 * @param tensors    in file order; none for tokenizers and schedulers
 * @param metadata   strings in the headers of its files
 * @param fit        how names, shapes and dtypes compare with the config; empty where there is no config of an H3 network
 */
public record ComponentReport(String name, Optional<String> className, Path path, Optional<String> sharedWith, List<TensorReport> tensors,
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
     * One tensor's header entry.
     *
     * @param name  in the file
     * @param dtype element type
     * @param shape sizes, outermost first
     * @param file  the file that holds it
     */
    public record TensorReport(String name, DType dtype, Shape shape, Path file) {
        /** Size of its data. */
        public long bytes() {
            return shape.elements() * dtype.bytes();
        }
    }

    public ComponentReport {
        tensors = List.copyOf(tensors);
        metadata = Map.copyOf(metadata);
    }

    /** The same component under another name. */
    ComponentReport named(String other) {
        return new ComponentReport(other, className, path, sharedWith, tensors, metadata, fit);
    }

    /** The same component, marked as being in the folder of an earlier one. */
    ComponentReport sharing(String owner) {
        return new ComponentReport(name, className, path, Optional.of(owner), tensors, metadata, fit);
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

    /** Elements by dtype. */
    public Map<DType, Long> parametersByDType() {
        Map<DType, Long> counts = new EnumMap<>(DType.class);
        tensors.forEach(t -> counts.merge(t.dtype(), t.shape().elements(), Long::sum));
        return counts;
    }
}
