package io.kinema.engine.model;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import io.kinema.engine.Task;
import io.kinema.model.layout.WeightLayout;
import io.kinema.weights.BadWeightsException;
import io.kinema.weights.TensorSource;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * A model in either released layout: where its components lie. Only the small JSON files are read here, so it opens at once
 * whatever the weights weigh; it holds no file open.
 *
 * @param root     the folder
 * @param layout   how its networks' tensors are stored
 * @param folders  where each component lies; components that the model lacks are absent
 * @param geometry the sizes a request is checked against
 */
public record ModelFolder(Path root, WeightLayout layout, Map<Component, Path> folders, ModelGeometry geometry) {

    /**
     * @param folder a folder in the diffusers layout, a partition in the original layout, or a folder that holds partitions
     * @throws BadWeightsException when there is no such folder, or it is not an H3 model
     */
    public static ModelFolder open(Path folder) {
        Path root = folder.toAbsolutePath().normalize();
        if (!Files.exists(root)) {
            throw new BadWeightsException("model " + folder + ": no such folder; give one with " + DiffusersIndex.NAMES.getFirst()
                    + ", or leave --model out for the bundled one");
        }
        if (!Files.isDirectory(root)) {
            throw new BadWeightsException("model " + folder + ": got a file, expected a folder with " + DiffusersIndex.NAMES.getFirst());
        }
        List<OriginalPartition> partitions = OriginalPartition.at(root);
        if (!partitions.isEmpty()) {
            return OriginalFolders.model(root, partitions);
        }
        Optional<JsonNode> index = DiffusersIndex.find(root);
        if (index.isEmpty()) {
            throw new BadWeightsException("model " + folder + ": not a model folder, it has no " + DiffusersIndex.NAMES.getFirst()
                    + "; give the folder that holds transformer/, vae/, audio_vae/ and text_encoder/, or FL2VA/ and Ref2VA/");
        }
        return DiffusersIndex.model(root, index.get());
    }

    /** The tasks whose transformer it has. */
    public Set<Task> tasks() {
        return geometry.tasks();
    }

    /** The index that says what it is; of one of its partitions where they have one each. @throws BadWeightsException when it is gone */
    public JsonNode index() {
        List<OriginalPartition> partitions = OriginalPartition.at(root);
        return partitions.isEmpty() ? DiffusersIndex.find(root).orElseThrow(() -> new BadWeightsException("model " + root + ": its index is gone"))
                : partitions.getFirst().index();
    }

    /** The component's folder. @throws BadWeightsException when the model has none */
    public Path folder(Component component) {
        Path path = folders.get(component);
        if (path == null) {
            throw new BadWeightsException("model " + root + ": has no " + component.key() + "; the model folder is incomplete");
        }
        return path;
    }

    /** A network's folder with its config. @throws BadWeightsException when the model has none, or its config is wrong */
    public NetworkFolder network(Component component) {
        return NetworkFolder.read(folder(component));
    }

    /** A network's config in the diffusers layout's terms. @throws BadWeightsException as {@link #network} does */
    public JsonNode config(Component component) {
        return network(component).config();
    }

    /** A network's weights under the names that it reads, to be closed by the caller. @throws BadWeightsException when they do not fit */
    public TensorSource open(Component component) {
        return network(component).open();
    }

    /** Another JSON file of a component; an empty object when the component or the file is absent. */
    public JsonNode configOrEmpty(Component component, String name) {
        Path folder = folders.get(component);
        Path file = folder == null ? null : folder.resolve(name);
        return file == null || !Files.isRegularFile(file) ? JsonNodeFactory.instance.objectNode() : Json.object(file);
    }
}
