package io.kinema.engine.model;

import com.fasterxml.jackson.databind.JsonNode;
import io.kinema.model.layout.Network;
import io.kinema.weights.BadWeightsException;
import io.kinema.weights.Checkpoint;
import io.kinema.weights.TensorSource;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * Where a transformer's tensors come from: the model's own folder, or weights named in its place.
 *
 * @param path    folder or file
 * @param config  in the diffusers layout's terms
 * @param network the folder that says how they are stored; empty for weights that lie without a config
 */
public record TransformerWeights(Path path, JsonNode config, Optional<NetworkFolder> network) {
    /** Both are in every transformer of the original layout, and in files that other programs made from it. */
    private static final List<String> ORIGINAL_NAMES = List.of("video_patch_proj.weight", "audio_patch_proj.weight");

    /**
     * @param own    the model's transformer, whose config is used for weights that have none beside them
     * @param chosen folder or file used in its place
     * @throws BadWeightsException when the config beside the chosen weights is no transformer's
     */
    public static TransformerWeights of(NetworkFolder own, Optional<Path> chosen) {
        if (chosen.isEmpty()) {
            return new TransformerWeights(own.weights(), own.config(), Optional.of(own));
        }
        Path path = chosen.get();
        Path folder = Files.isDirectory(path) ? path : path.toAbsolutePath().getParent();
        if (!Files.isRegularFile(folder.resolve("config.json"))) {
            return new TransformerWeights(path, own.config(), Optional.empty());
        }
        NetworkFolder network = NetworkFolder.read(folder);
        if (network.network() != Network.TRANSFORMER) {
            throw new BadWeightsException(path + ": lies beside the config of a " + network.network() + ", expected a transformer");
        }
        NetworkFolder there = new NetworkFolder(folder, network.network(), network.layout(), network.config(), path);
        return new TransformerWeights(path, network.config(), Optional.of(there));
    }

    /** Maps the weights under the names that the transformer reads. @throws BadWeightsException when they do not fit the config */
    public TensorSource open() {
        return network.map(NetworkFolder::open).orElseGet(this::openAlone);
    }

    /**
     * The names of the original layout do not say in which order q, k and v rows lie: MiniMax interleaves them, files that
     * other programs wrote under the same names stack them. Reading one as the other gives a model of the right shape that
     * makes noise, so such a file is read only with the config that tells.
     */
    private TensorSource openAlone() {
        Checkpoint stored = Checkpoint.open(path);
        if (ORIGINAL_NAMES.stream().allMatch(n -> stored.find(n).isPresent())) {
            stored.close();
            throw new BadWeightsException(path + ": has the original layout's tensor names and no config.json beside it, so the order of its QKV "
                    + "rows is unknown; give the partition's transformer folder, or weights in the diffusers layout");
        }
        return stored;
    }
}
