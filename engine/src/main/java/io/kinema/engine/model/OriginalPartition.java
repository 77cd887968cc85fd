package io.kinema.engine.model;

import com.fasterxml.jackson.databind.JsonNode;
import io.kinema.engine.Task;
import io.kinema.weights.BadWeightsException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * A partition in MiniMax's original layout, as the {@code _minimax_h3} block of its index describes it. The block alone says
 * what a folder is: a renamed folder is the same partition, and weights are never asked which one they are.
 *
 * @param folder     the folder
 * @param partition  {@code fl2va} or {@code ref2va}
 * @param tasks      what its transformer was made for
 * @param videoShift the video schedule's shift
 * @param audioShift the sound schedule's shift
 * @param index      {@code model_index.json}
 */
public record OriginalPartition(Path folder, String partition, Set<Task> tasks, double videoShift, double audioShift, JsonNode index) {
    private static final String INDEX = "model_index.json";
    private static final String BLOCK = "_minimax_h3";
    private static final int SCHEMA = 1;
    /** Which components lie in a folder of another name than in the diffusers layout. */
    private static final Map<Component, String> KEYS = Map.of(Component.VIDEO_VAE, "video_vae");

    /** The partitions that MiniMax publishes. */
    public enum Kind {
        FL2VA("FL2VA", Component.TRANSFORMER, List.of(Task.T2VA, Task.FL2VA)),
        REF2VA("Ref2VA", Component.TRANSFORMER_REF, List.of(Task.REF2VA));

        private final String folder;
        private final Component transformer;
        private final List<Task> tasks;

        Kind(String folder, Component transformer, List<Task> tasks) {
            this.folder = folder;
            this.transformer = transformer;
            this.tasks = tasks;
        }

        /** Its folder's usual name. */
        public String folder() {
            return folder;
        }

        /** Which of a model's transformers it holds. */
        public Component transformer() {
            return transformer;
        }

        /** What that transformer was made for. */
        public List<Task> tasks() {
            return tasks;
        }

        /** What its index calls it. */
        public String label() {
            return tasks.getLast().label();
        }
    }

    /** True when an index is a partition's. */
    private static boolean describes(JsonNode index) {
        return index.has(BLOCK);
    }

    /** @throws BadWeightsException when the block is not of the released form */
    private static OriginalPartition read(Path folder, JsonNode index) {
        JsonNode block = index.get(BLOCK);
        if (block.path("schema_version").asInt(-1) != SCHEMA) {
            throw wrong(folder, "schema_version", block.path("schema_version"), "" + SCHEMA);
        }
        if (block.hasNonNull("base_schedule")) {
            throw wrong(folder, "base_schedule", block.get("base_schedule"), "none: only schedules made from the shifts are supported");
        }
        String partition = block.path("partition").asText();
        if (!partition.equals(Task.FL2VA.label()) && !partition.equals(Task.REF2VA.label())) {
            throw wrong(folder, "partition", block.path("partition"), "fl2va or ref2va");
        }
        return new OriginalPartition(folder, partition, tasks(folder, block), shift(folder, block, "video"), shift(folder, block, "audio"), index);
    }

    /**
     * What {@code root} holds of the original layout: itself, when its index is a partition's; the partitions in its folders, in
     * name order, when it has no index or one whose transformers are not there (a repository of which only
     * partitions were fetched); otherwise none.
     *
     * @throws BadWeightsException when an index is broken, or two partitions do not belong together
     */
    public static List<OriginalPartition> at(Path root) {
        Optional<JsonNode> index = DiffusersIndex.find(root);
        if (index.isEmpty()) {
            return within(root);
        }
        if (describes(index.get())) {
            return List.of(read(root, index.get()));
        }
        boolean present = Stream.of(Component.TRANSFORMER, Component.TRANSFORMER_REF).anyMatch(c -> Files.isDirectory(root.resolve(c.key())));
        return present ? List.of() : within(root);
    }

    private static List<OriginalPartition> within(Path root) {
        List<OriginalPartition> found = new ArrayList<>();
        for (Path folder : folders(root)) {
            JsonNode index = Json.object(folder.resolve(INDEX));
            if (describes(index)) {
                found.add(read(folder, index));
            }
        }
        for (int i = 1; i < found.size(); i++) {
            for (OriginalPartition other : found.subList(0, i)) {
                other.requireBeside(found.get(i), root);
            }
        }
        return found;
    }

    /** Where its components lie. */
    public Map<Component, Path> components() {
        Map<Component, Path> components = new EnumMap<>(Component.class);
        for (Component component : Component.values()) {
            String key = KEYS.getOrDefault(component, component.key());
            if (component != Component.TRANSFORMER && component != Component.TRANSFORMER_REF && index.path(key).isArray()) {
                components.put(component, folder.resolve(key));
            }
        }
        if (index.path(Component.TRANSFORMER.key()).isArray()) {
            tasks.forEach(task -> components.put(Component.transformerOf(task), folder.resolve(Component.TRANSFORMER.key())));
        }
        return components;
    }

    /** Two partitions side by side make one model only when they are different ones with one schedule. */
    private void requireBeside(OriginalPartition other, Path root) {
        if (tasks.stream().anyMatch(other.tasks::contains)) {
            throw new BadWeightsException("model " + root + ": " + folder.getFileName() + " and " + other.folder.getFileName()
                    + " both hold a transformer for " + tasks.stream().filter(other.tasks::contains).map(Task::label).toList() + "; give one of the two folders");
        }
        if (videoShift != other.videoShift || audioShift != other.audioShift) {
            throw new BadWeightsException("model " + root + ": " + folder.getFileName() + " and " + other.folder.getFileName()
                    + " state different sigma_shift_scales, expected one schedule; give one of the two folders");
        }
    }

    private static List<Path> folders(Path root) {
        try (Stream<Path> entries = Files.list(root)) {
            return entries.filter(p -> Files.isRegularFile(p.resolve(INDEX))).sorted().toList();
        } catch (IOException e) {
            throw new BadWeightsException("model " + root + ": cannot be listed (" + e.getMessage() + "); check its permissions", e);
        }
    }

    private static Set<Task> tasks(Path folder, JsonNode block) {
        Set<Task> tasks = EnumSet.noneOf(Task.class);
        for (JsonNode label : block.path("tasks")) {
            tasks.add(Task.labelled(label.asText()).orElseThrow(() -> wrong(folder, "tasks", block.get("tasks"), "t2va, fl2va or ref2va")));
        }
        if (tasks.isEmpty()) {
            throw wrong(folder, "tasks", block.path("tasks"), "a list of at least one task");
        }
        return tasks;
    }

    private static double shift(Path folder, JsonNode block, String modality) {
        JsonNode value = block.path("sigma_shift_scales").path(modality);
        double shift = value.asDouble(-1);
        if (!value.isNumber() || !(shift > 0) || Double.isInfinite(shift)) {
            throw wrong(folder, "sigma_shift_scales." + modality, value, "a positive number");
        }
        return shift;
    }

    private static BadWeightsException wrong(Path folder, String field, JsonNode got, String expected) {
        return new BadWeightsException(folder.resolve(INDEX) + ": " + BLOCK + "." + field + " is "
                + (got.isMissingNode() ? "missing" : got.toString()) + ", expected " + expected);
    }
}
