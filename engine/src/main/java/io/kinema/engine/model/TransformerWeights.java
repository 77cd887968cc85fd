package io.kinema.engine.model;

import com.fasterxml.jackson.databind.JsonNode;
import io.kinema.engine.Task;
import io.kinema.model.layout.Network;
import io.kinema.model.layout.TransformerForm;
import io.kinema.model.layout.WeightLayout;
import io.kinema.weights.BadWeightsException;
import io.kinema.weights.GgufFile;
import io.kinema.weights.TensorSource;
import io.kinema.weights.WeightFiles;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Where a transformer's tensors come from: the model's own folder, or weights named in its place, of any format that is
 * understood. It holds no file open.
 *
 * @param path   folder or file
 * @param config in the diffusers layout's terms, with what the weights themselves say added
 * @param layout how names and rows lie
 */
public record TransformerWeights(Path path, JsonNode config, WeightLayout layout) {
    /** What the names of ComfyUI's files tell, and nothing inside them does. */
    private static final Pattern TOKEN = Pattern.compile("(?:^|[._-])(fl2va|ref2va)(?=$|[._-])");

    /**
     * @param own    the model's transformer, whose config is used for weights that have none beside them
     * @param chosen folder or file used in its place
     * @param stated layout of the chosen weights, where their names leave it open
     * @throws BadWeightsException when the config beside the chosen weights is no transformer's, or they are of no layout that is understood
     */
    public static TransformerWeights of(NetworkFolder own, Optional<Path> chosen, Optional<WeightLayout> stated) {
        if (chosen.isEmpty()) {
            return new TransformerWeights(own.weights(), own.config(), own.layout());
        }
        Path path = chosen.get();
        Optional<NetworkFolder> beside = beside(path);
        if (Files.isDirectory(path) && beside.filter(NetworkFolder::random).isPresent()) {
            return new TransformerWeights(path, beside.get().config(), beside.get().layout());
        }
        try (TensorSource stored = stored(path)) {
            TransformerForm form = TransformerForm.of(stored, GgufFile.recognises(path), stated, beside.map(NetworkFolder::layout));
            return new TransformerWeights(path, form.completed(beside.orElse(own).config()), form.layout());
        }
    }

    /** {@link #of(NetworkFolder, Optional, Optional)} with nothing stated. */
    public static TransformerWeights of(NetworkFolder own, Optional<Path> chosen) {
        return of(own, chosen, Optional.empty());
    }

    /**
     * Refuses ComfyUI's weights of the other partition: only their name says which they are, and the wrong ones would make clips
     * that look like a fault of the model.
     *
     * @throws BadWeightsException when the name says that they are not for this task
     */
    public TransformerWeights requireFor(Task task) {
        if (!isFor(task)) {
            throw new BadWeightsException(path + ": is of the partition " + partition().orElseThrow() + " by its name, expected " + partition(task) + " for task "
                    + task.label() + "; give the file of that partition");
        }
        return this;
    }

    /** False for ComfyUI's weights that are of the other partition by their name. */
    public boolean isFor(Task task) {
        return partition().map(partition(task)::equals).orElse(true);
    }

    private Optional<String> partition() {
        List<String> tokens = TOKEN.matcher(path.getFileName().toString().toLowerCase(Locale.ROOT)).results().map(m -> m.group(1)).distinct().toList();
        return layout == WeightLayout.COMFYUI && tokens.size() == 1 ? Optional.of(tokens.getFirst()) : Optional.empty();
    }

    private static String partition(Task task) {
        return task == Task.REF2VA ? Task.REF2VA.label() : Task.FL2VA.label();
    }

    /** How its matrices are stored. */
    public WeightEncodings encodings() {
        try (TensorSource stored = stored()) {
            return WeightEncodings.of(stored);
        }
    }

    /** Its tensors under the names that the files have, but for a common prefix; random ones where they stand in for files. */
    public TensorSource stored() {
        return random().orElseGet(() -> stored(path));
    }

    /** Maps the weights under the names that the transformer reads. @throws BadWeightsException when they do not fit the config */
    public TensorSource open() {
        return random().orElseGet(() -> Network.TRANSFORMER.open(stored(path), layout, config));
    }

    private Optional<TensorSource> random() {
        return RandomWeights.at(path, () -> Network.TRANSFORMER.inventory(config));
    }

    private static TensorSource stored(Path path) {
        return Network.unprefixed(WeightFiles.open(path));
    }

    /** The network whose config lies beside the weights. */
    private static Optional<NetworkFolder> beside(Path path) {
        Path folder = Files.isDirectory(path) ? path : path.toAbsolutePath().getParent();
        if (!Files.isRegularFile(folder.resolve("config.json"))) {
            return Optional.empty();
        }
        NetworkFolder network = NetworkFolder.read(folder);
        if (network.network() != Network.TRANSFORMER) {
            throw new BadWeightsException(path + ": lies beside the config of a " + network.network().label() + ", expected a transformer");
        }
        return Optional.of(network);
    }
}
