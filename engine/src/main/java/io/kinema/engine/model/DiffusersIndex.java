package io.kinema.engine.model;

import com.fasterxml.jackson.databind.JsonNode;
import io.kinema.model.layout.WeightLayout;
import io.kinema.weights.BadWeightsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The index of a folder in the diffusers layout. */
final class DiffusersIndex {
    /** File names, the usual one first; the reference's converter writes the other alone. */
    static final List<String> NAMES = List.of("model_index.json", "modular_model_index.json");

    private DiffusersIndex() {
    }

    /** The index of {@code root}, or empty when it has none. */
    static Optional<JsonNode> find(Path root) {
        return NAMES.stream().map(root::resolve).filter(Files::isRegularFile).findFirst().map(Json::object);
    }

    static ModelFolder model(Path root, JsonNode index) {
        Map<Component, Path> folders = locate(root, index);
        for (Component needed : new Component[] {Component.TEXT_ENCODER, Component.VIDEO_VAE, Component.AUDIO_VAE,
                Component.TRANSFORMER, Component.TOKENIZER}) {
            if (!folders.containsKey(needed)) {
                throw new BadWeightsException("model " + root + ": the index lists no " + needed.key()
                        + ", expected all components of an H3 model");
            }
        }
        requireOneTransformer(folders);
        return new ModelFolder(root, WeightLayout.DIFFUSERS, Map.copyOf(folders), ModelGeometry.read(index, folders,
                shift(folders, Component.SCHEDULER, 12), shift(folders, Component.AUDIO_SCHEDULER, 3)));
    }

    /** Where the listed components lie; those outside the model folder are refused. */
    private static Map<Component, Path> locate(Path root, JsonNode index) {
        Map<Component, Path> folders = new EnumMap<>(Component.class);
        for (Component component : Component.values()) {
            JsonNode entry = index.get(component.key());
            if (entry == null || !entry.isArray()) {
                continue;
            }
            String sub = entry.path(2).path("subfolder").asText(component.key());
            Path path = root.resolve(sub.isEmpty() ? component.key() : sub).normalize();
            if (!path.startsWith(root)) {
                throw new BadWeightsException(root + ": " + component.key() + " has subfolder '" + sub
                        + "' in the index, expected one inside the model folder");
            }
            folders.put(component, path);
        }
        return folders;
    }

    /** A download may leave one transformer out; what it was for is then refused by task. Without any, the first is missed. */
    private static void requireOneTransformer(Map<Component, Path> folders) {
        Path reference = folders.get(Component.TRANSFORMER_REF);
        if (reference == null) {
            return;
        }
        if (!Files.isDirectory(reference)) {
            folders.remove(Component.TRANSFORMER_REF);
        } else if (!Files.isDirectory(folders.get(Component.TRANSFORMER))) {
            folders.remove(Component.TRANSFORMER);
        }
    }

    private static double shift(Map<Component, Path> folders, Component component, double released) {
        Path folder = folders.get(component);
        Path file = folder == null ? null : folder.resolve("scheduler_config.json");
        if (file == null || !Files.isRegularFile(file)) {
            return released;
        }
        double shift = Json.object(file).path("shift").asDouble(released);
        if (!(shift > 0) || Double.isInfinite(shift)) {
            throw new BadWeightsException(file + ": shift is " + shift + ", expected a positive number");
        }
        return shift;
    }
}
