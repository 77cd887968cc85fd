package io.kinema.engine.convert;

import io.kinema.engine.BadRequestException;
import io.kinema.engine.Task;
import io.kinema.model.layout.WeightLayout;
import io.kinema.weights.Int8Rows;
import java.nio.file.Path;
import java.util.Optional;

/**
 * How to quantise.
 *
 * @param largestGroup the most columns that are rotated together, a power of 4
 * @param overwrite    whether a target that is there is replaced
 * @param task         whose transformer of a model with two is taken; recorded in the file
 * @param model        model whose config belongs to a transformer file that has none; the bundled one when empty
 * @param sourceLayout layout of such a file, where its names leave it open
 * @param threads      compute threads
 */
public record QuantizeOptions(int largestGroup, boolean overwrite, Optional<Task> task, Optional<Path> model, Optional<WeightLayout> sourceLayout, int threads) {
    public QuantizeOptions {
        if (!Int8Rows.groupExists(largestGroup)) {
            throw new BadRequestException("groupSize", "" + largestGroup, "expected a power of 4 from 4 on, such as " + Int8Rows.PUBLISHED_GROUP);
        }
    }
}
