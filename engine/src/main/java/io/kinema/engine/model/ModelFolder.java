package io.kinema.engine.model;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import io.kinema.weights.BadWeightsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.Map;

/**
 * A folder in the released diffusers layout: an index, and a folder with a config for each component. Only the small JSON
 * files are read here, so it opens at once whatever the weights weigh; it holds no file open.
 *
 * @param root     the folder
 * @param folders  where each component lies; components that the index does not list are absent
 * @param index    {@code model_index.json}
 * @param geometry the sizes a request is checked against
 */
public record ModelFolder(Path root, Map<Component, Path> folders, JsonNode index, ModelGeometry geometry) {
    private static final String INDEX = "model_index.json";

    /** @throws BadWeightsException when there is no such folder, or it is not an H3 model in the diffusers layout */
    public static ModelFolder open(Path folder) {
        Path root = folder.toAbsolutePath().normalize();
        if (!Files.exists(root)) {
            throw new BadWeightsException("model " + folder + ": no such folder; give one with " + INDEX
                    + ", or leave --model out for the bundled one");
        }
        if (!Files.isDirectory(root)) {
            throw new BadWeightsException("model " + folder + ": got a file, expected a folder with " + INDEX);
        }
        if (!Files.isRegularFile(root.resolve(INDEX))) {
            throw new BadWeightsException("model " + folder + ": not a model folder, it has no " + INDEX
                    + "; give the folder that holds transformer/, vae/, audio_vae/ and text_encoder/");
        }
        JsonNode index = Json.object(root.resolve(INDEX));
        Map<Component, Path> folders = locate(root, index);
        for (Component needed : new Component[] {Component.TEXT_ENCODER, Component.VIDEO_VAE, Component.AUDIO_VAE,
                Component.TRANSFORMER, Component.TOKENIZER}) {
            if (!folders.containsKey(needed)) {
                throw new BadWeightsException("model " + folder + ": " + INDEX + " lists no " + needed.key()
                        + ", expected all components of an H3 model");
            }
        }
        return new ModelFolder(root, Map.copyOf(folders), index,
                ModelGeometry.read(index, component(folders, Component.VIDEO_VAE), component(folders, Component.AUDIO_VAE),
                        component(folders, Component.TRANSFORMER), shift(folders, Component.SCHEDULER, 12),
                        shift(folders, Component.AUDIO_SCHEDULER, 3)));
    }

    /** The component's folder. @throws BadWeightsException when the model has none */
    public Path folder(Component component) {
        Path path = folders.get(component);
        if (path == null) {
            throw new BadWeightsException("model " + root + ": no " + component.key() + " in " + INDEX);
        }
        return path;
    }

    /** The component's {@code config.json}. @throws BadWeightsException when it is missing or not an object */
    public JsonNode config(Component component) {
        folder(component);
        return component(folders, component);
    }

    /** Another JSON file of a component; an empty object when the component or the file is absent. */
    public JsonNode configOrEmpty(Component component, String name) {
        Path folder = folders.get(component);
        Path file = folder == null ? null : folder.resolve(name);
        return file == null || !Files.isRegularFile(file) ? JsonNodeFactory.instance.objectNode() : Json.object(file);
    }

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
                throw new BadWeightsException(root.resolve(INDEX) + ": " + component.key() + " has subfolder '" + sub
                        + "', expected one inside the model folder");
            }
            folders.put(component, path);
        }
        return folders;
    }

    private static JsonNode component(Map<Component, Path> folders, Component component) {
        Path file = folders.get(component).resolve("config.json");
        if (!Files.isRegularFile(file)) {
            throw new BadWeightsException(file + ": missing, expected the config of " + component.key()
                    + "; the model folder is incomplete");
        }
        return Json.object(file);
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
