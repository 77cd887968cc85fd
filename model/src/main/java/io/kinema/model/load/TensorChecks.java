package io.kinema.model.load;

import io.kinema.weights.BadWeightsException;
import io.kinema.weights.Shape;
import io.kinema.weights.StoredTensor;

/** Refuses tensors that are not what a config implies. */
final class TensorChecks {
    private TensorChecks() {
    }

    static void requireShape(Shape shape, String file, String name, long... dims) {
        Shape expected = Shape.of(dims);
        if (!shape.equals(expected)) {
            throw new BadWeightsException(file + ": tensor " + name + " has shape " + shape
                    + ", expected " + expected + " from the config; the config and the weights do not belong together");
        }
    }

    static StoredTensor floating(StoredTensor stored) {
        if (!stored.dtype().floating()) {
            throw new BadWeightsException(stored.file() + ": tensor " + stored.name() + " is " + stored.dtype()
                    + ", expected a float dtype; use a float checkpoint");
        }
        return stored;
    }
}
