package io.kinema.model.adapter;

import io.kinema.weights.TensorSource;
import java.util.Map;

/**
 * An adapter file as it lies on disk. Owns nothing.
 *
 * @param tensors  its tensors
 * @param metadata strings of its header
 * @param fileName without the folder
 * @param sha256   hex digest of its content
 * @param bytes    size
 */
public record AdapterSource(TensorSource tensors, Map<String, String> metadata, String fileName, String sha256, long bytes) {
    public AdapterSource {
        metadata = Map.copyOf(metadata);
    }
}
