package io.kinema.engine.model;

import com.fasterxml.jackson.databind.JsonNode;
import io.kinema.model.load.Inventory;
import io.kinema.weights.BadWeightsException;
import io.kinema.weights.DType;
import io.kinema.weights.RandomTensors;
import io.kinema.weights.TensorSource;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Stream;

/** Random weights in place of a checkpoint, for measuring speed and memory at a size whose weights are not at hand. */
final class RandomWeights {
    static final String NAME = "random_weights.json";
    private static final List<String> WEIGHTS = List.of(".safetensors", ".safetensors.index.json");

    private RandomWeights() {
    }

    /** True for a folder that asks for random weights. @throws BadWeightsException when it has weights too */
    static boolean at(Path folder) {
        if (!Files.isRegularFile(folder.resolve(NAME))) {
            return false;
        }
        try (Stream<Path> files = Files.list(folder)) {
            files.map(file -> file.getFileName().toString()).filter(file -> WEIGHTS.stream().anyMatch(file::endsWith)).findFirst().ifPresent(file -> {
                throw new BadWeightsException(folder + ": has " + NAME + " and " + file + ", expected one of them; remove the one that is not meant");
            });
        } catch (IOException e) {
            throw new BadWeightsException(folder + ": cannot be listed (" + e.getMessage() + "); check its permissions", e);
        }
        return true;
    }

    /** Random weights for a folder that asks for them by a file {@code random_weights.json} in place of weights, else empty. */
    static Optional<TensorSource> at(Path folder, Supplier<Inventory> inventory) {
        Path file = folder.resolve(NAME);
        return at(folder) ? Optional.of(of(inventory.get(), file)) : Optional.empty();
    }

    /**
     * @param inventory the tensors that the config implies; those that must be FP32 are
     * @param file      states {@code dtype} (F32, F16 or BF16) of the others and {@code seed}
     */
    private static RandomTensors of(Inventory inventory, Path file) {
        JsonNode json = Json.object(file);
        Optional<DType> dtype = DType.named(json.path("dtype").asText()).filter(d -> d == DType.F32 || d == DType.F16 || d == DType.BF16);
        if (dtype.isEmpty() || !json.path("seed").isIntegralNumber()) {
            throw new BadWeightsException(file + ": got dtype " + json.path("dtype") + " and seed " + json.path("seed")
                    + ", expected F32, F16 or BF16 and an integer");
        }
        List<RandomTensors.Entry> entries = inventory.entries().stream()
                .map(e -> new RandomTensors.Entry(e.name(), e.rule() == Inventory.Rule.FP32 ? DType.F32 : dtype.get(), e.shape())).toList();
        return RandomTensors.of(file.toString(), entries, json.path("seed").asLong());
    }
}
