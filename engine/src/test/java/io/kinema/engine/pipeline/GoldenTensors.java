package io.kinema.engine.pipeline;

import static org.assertj.core.api.Assertions.assertThat;

import io.kinema.compute.Device;
import io.kinema.compute.Tensor;
import io.kinema.weights.SafetensorsFile;
import io.kinema.weights.StoredTensor;
import java.nio.file.Path;
import java.util.Optional;

/** Stored tensors of a golden case. */
final class GoldenTensors {
    private final Path folder;

    GoldenTensors(Path folder) {
        this.folder = folder;
    }

    /** The values of a tensor in any of the case's files. */
    Optional<float[]> find(String name) {
        for (String file : new String[] {"inputs", "trajectory", "outputs"}) {
            if (has(file, name)) {
                return Optional.of(floats(file, name));
            }
        }
        return Optional.empty();
    }

    boolean has(String file, String tensor) {
        Path path = folder.resolve(file + ".safetensors");
        if (!path.toFile().exists()) {
            return false;
        }
        try (SafetensorsFile source = SafetensorsFile.open(path)) {
            return source.find(tensor).isPresent();
        }
    }

    long[] shape(String file, String tensor) {
        try (SafetensorsFile source = SafetensorsFile.open(folder.resolve(file + ".safetensors"))) {
            return source.get(tensor).shape().toArray();
        }
    }

    float[] floats(String file, String tensor) {
        try (SafetensorsFile source = SafetensorsFile.open(folder.resolve(file + ".safetensors"))) {
            StoredTensor stored = source.get(tensor);
            return Tensor.of(stored.dtype(), stored.shape(), stored.data(), Device.CPU).toFloats();
        }
    }

    /** {@code ||got - expected|| / ||expected||}. */
    static double relative(float[] got, float[] expected) {
        assertThat(got).hasSameSizeAs(expected);
        double difference = 0;
        double norm = 0;
        for (int i = 0; i < got.length; i++) {
            difference += Math.pow((double) got[i] - expected[i], 2);
            norm += (double) expected[i] * expected[i];
        }
        return Math.sqrt(difference / norm);
    }
}
