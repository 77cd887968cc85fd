package io.kinema.engine.inspect;

import io.kinema.engine.model.OriginalPartition;
import java.nio.file.Path;
import java.util.List;

/**
 * What a model, a component or a weight file holds, from headers and configs alone.
 *
 * @param path       what was inspected
 * @param partitions what it holds in the original layout; none for the diffusers layout, component folders and files
 * @param components in the index's order; one for a component folder or a single file
 */
public record ModelReport(Path path, List<OriginalPartition> partitions, List<ComponentReport> components) {
    public ModelReport {
        partitions = List.copyOf(partitions);
        components = List.copyOf(components);
    }

    /** Elements of all tensors, weights that two components share counted once. */
    public long parameters() {
        return components.stream().filter(c -> c.sharedWith().isEmpty()).mapToLong(ComponentReport::parameters).sum();
    }

    /** Bytes of all tensors, shared ones counted once. */
    public long bytes() {
        return components.stream().filter(c -> c.sharedWith().isEmpty()).mapToLong(ComponentReport::bytes).sum();
    }
}
