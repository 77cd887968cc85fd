package io.kinema.engine.inspect;

import com.fasterxml.jackson.databind.JsonNode;
import io.kinema.engine.inspect.ComponentReport.Fit;
import io.kinema.engine.inspect.ComponentReport.TensorReport;
import io.kinema.engine.model.Json;
import io.kinema.engine.model.NetworkFolder;
import io.kinema.engine.model.OriginalPartition;
import io.kinema.weights.BadWeightsException;
import io.kinema.weights.TensorSource;
import io.kinema.weights.WeightFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * Looks into models without reading a single weight: it opens headers and configs only, so a checkpoint of any size is
 * inspected at once and in little memory.
 */
public final class ModelInspector {
    private static final List<String> INDEXES = List.of("model_index.json", "modular_model_index.json");
    private static final String WEIGHTS = ".safetensors";
    private static final String SHARDS = ".safetensors.index.json";

    private ModelInspector() {
    }

    /**
     * @param path a model folder (with a {@code model_index.json}), one component's folder, a folder of component folders, an
     *             index of shards or one safetensors file
     * @throws BadWeightsException when there is nothing of the kind, or a header is broken; the message names file and tensor
     */
    public static ModelReport inspect(Path path) {
        if (!Files.exists(path)) {
            throw new BadWeightsException(path + ": no such file or folder; give a model folder, a component folder or a .safetensors file");
        }
        if (!Files.isDirectory(path)) {
            return new ModelReport(path, List.of(), List.of(component(name(path), Optional.empty(), path, path)));
        }
        List<OriginalPartition> partitions = OriginalPartition.at(path);
        if (!partitions.isEmpty()) {
            return new ModelReport(path, partitions, partitions(path, partitions));
        }
        Optional<Path> index = INDEXES.stream().map(path::resolve).filter(Files::isRegularFile).findFirst();
        if (index.isPresent()) {
            return new ModelReport(path, List.of(), listed(path, Json.object(index.get())));
        }
        Optional<Path> weights = weights(path);
        if (weights.isPresent()) {
            return new ModelReport(path, List.of(), List.of(component(name(path), className(path), path, weights.get())));
        }
        return new ModelReport(path, List.of(), loose(path));
    }

    /** Every partition's components, under the partition's folder where there is more than one. */
    private static List<ComponentReport> partitions(Path root, List<OriginalPartition> partitions) {
        List<ComponentReport> components = new ArrayList<>();
        for (OriginalPartition partition : partitions) {
            String prefix = partition.folder().equals(root) ? "" : partition.folder().getFileName() + "/";
            listed(partition.folder(), partition.index()).forEach(c -> components.add(c.named(prefix + c.name())));
        }
        return components;
    }

    /** The components that the index lists and that have a folder here. */
    private static List<ComponentReport> listed(Path root, JsonNode index) {
        List<ComponentReport> components = new ArrayList<>();
        Map<Path, String> seen = new HashMap<>();
        index.properties().stream().filter(e -> e.getValue().isArray() && e.getValue().size() >= 2).forEach(e -> {
            String name = e.getKey();
            String sub = e.getValue().path(2).path("subfolder").asText(name);
            Path folder = root.resolve(sub.isEmpty() ? name : sub).normalize();
            if (!folder.startsWith(root.normalize())) {
                throw new BadWeightsException(root + ": component " + name + " has subfolder " + sub + ", expected one inside the model folder");
            }
            Optional<String> className = Optional.of(e.getValue().get(1)).filter(JsonNode::isTextual).map(JsonNode::asText);
            if (Files.isDirectory(folder)) {
                components.add(shared(name, className, folder, seen));
            }
        });
        if (components.isEmpty()) {
            throw new BadWeightsException(root + ": the index lists no component that has a folder here; the model is incomplete");
        }
        return components;
    }

    private static ComponentReport shared(String name, Optional<String> className, Path folder, Map<Path, String> seen) {
        String owner = seen.putIfAbsent(folder, name);
        ComponentReport report = weights(folder).map(w -> component(name, className, folder, w))
                .orElseGet(() -> new ComponentReport(name, className, folder, Optional.empty(), false, List.of(), Map.of(), Optional.empty()));
        return owner == null ? report : report.sharing(owner);
    }

    /** A folder without an index: every folder below it that holds weights. */
    private static List<ComponentReport> loose(Path root) {
        try (Stream<Path> below = Files.walk(root, 3)) {
            List<ComponentReport> components = below.filter(p -> Files.isDirectory(p) && holdsWeights(p)).sorted()
                    .map(p -> component(root.relativize(p).toString(), className(p), p, p)).toList();
            if (components.isEmpty()) {
                throw new BadWeightsException(root + ": no model_index.json and no .safetensors file in it or below it; give a model folder");
            }
            return components;
        } catch (IOException e) {
            throw new BadWeightsException(root + ": cannot be listed (" + e.getMessage() + "); check its permissions", e);
        }
    }

    private static boolean holdsWeights(Path folder) {
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(f -> f.getFileName().toString()).anyMatch(n -> n.endsWith(WEIGHTS) || n.endsWith(SHARDS) || n.equals(NetworkFolder.RANDOM_WEIGHTS) || n.endsWith(WEIGHTS + ".incomplete"));
        } catch (IOException e) {
            throw new BadWeightsException(folder + ": cannot be listed (" + e.getMessage() + "); check its permissions", e);
        }
    }

    /** Where a component's tensors are: in its folder, or where its config says; empty when it has none. */
    private static Optional<Path> weights(Path folder) {
        return holdsWeights(folder) ? Optional.of(folder) : network(folder).map(NetworkFolder::weights);
    }

    /** The network that a folder's config describes. */
    private static Optional<NetworkFolder> network(Path folder) {
        return Files.isRegularFile(folder.resolve("config.json")) ? NetworkFolder.find(folder) : Optional.empty();
    }

    private static ComponentReport component(String name, Optional<String> className, Path path, Path file) {
        Optional<NetworkFolder> network = Files.isDirectory(path) ? network(path) : Optional.empty();
        boolean random = network.filter(NetworkFolder::random).isPresent();
        try (TensorSource weights = random ? network.get().stored() : WeightFiles.open(file)) {
            List<TensorReport> tensors = weights.names().stream().map(n -> TensorReport.of(weights.header(n).orElseThrow())).toList();
            Optional<Fit> fit = Files.isDirectory(path) ? network.map(n -> new Fit(n.layout(), n.misfit(weights))) : LooseTransformer.fit(file);
            return new ComponentReport(name, className, path, Optional.empty(), random, tensors, random ? Map.of() : new TreeMap<>(WeightFiles.metadata(weights)), fit);
        }
    }

    private static Optional<String> className(Path folder) {
        Path config = folder.resolve("config.json");
        if (!Files.isRegularFile(config)) {
            return Optional.empty();
        }
        JsonNode json = Json.object(config);
        return Optional.of(json.path("_class_name").asText(json.path("architectures").path(0).asText())).filter(n -> !n.isEmpty());
    }

    private static String name(Path path) {
        Path last = path.toAbsolutePath().normalize().getFileName();
        return last == null ? path.toString() : last.toString();
    }
}
