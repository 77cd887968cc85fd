package io.kinema.model.adapter;

import io.kinema.weights.StoredTensor;

/**
 * A full-rank edit of one tensor of the transformer.
 *
 * @param tensor name in the diffusers layout, with {@code .weight} or {@code .bias}
 * @param kind   what happens to it
 * @param value  of the tensor's shape
 */
public record WeightEdit(String tensor, Kind kind, StoredTensor value) {
    /** What an edit does. */
    public enum Kind {
        /** The value is added. */
        ADD,
        /** The value takes its place. */
        SET
    }
}
