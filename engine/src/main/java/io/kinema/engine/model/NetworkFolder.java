package io.kinema.engine.model;

import com.fasterxml.jackson.databind.JsonNode;
import io.kinema.model.layout.Network;
import io.kinema.model.layout.OriginalConfigs;
import io.kinema.model.layout.WeightLayout;
import io.kinema.weights.BadWeightsException;
import io.kinema.weights.TensorSource;
import io.kinema.weights.WeightFiles;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * One network's folder in either layout: what its config says it is. Only configs are read here; {@link #open} maps the
 * weights. It holds no file open.
 *
 * @param folder  the folder with {@code config.json}
 * @param network which network
 * @param layout  how its tensors are stored
 * @param config  in the diffusers layout's terms, whatever the layout
 * @param weights folder or file that holds its tensors
 */
public record NetworkFolder(Path folder, Network network, WeightLayout layout, JsonNode config, Path weights) {
    /** A file in place of weights, which asks for random ones. */
    public static final String RANDOM_WEIGHTS = RandomWeights.NAME;

    private static final String CONFIG = "config.json";

    /** @throws BadWeightsException when a config is missing or wrong, or is no config of an H3 network */
    public static NetworkFolder read(Path folder) {
        return find(folder).orElseThrow(() -> new BadWeightsException(folder.resolve(CONFIG) + ": names no network of H3 in _class_name or "
                + "model_type; give a folder of a transformer, a video or audio VAE or a text encoder, with its own config.json"));
    }

    /** The network of this folder; empty when its config is of something else. @throws BadWeightsException as {@link #read} does */
    public static Optional<NetworkFolder> find(Path folder) {
        JsonNode json = json(folder, CONFIG);
        if (json.path("model_type").asText().equals("qwen3_vl")) {
            return Optional.of(of(folder, Network.TEXT_ENCODER, WeightLayout.EITHER, json, folder));
        }
        return Optional.ofNullable(switch (json.path("_class_name").asText()) {
            case "MiniMaxH3Transformer3DModel" -> of(folder, Network.TRANSFORMER, WeightLayout.DIFFUSERS, json, folder);
            case "AutoencoderKLMiniMaxH3" -> of(folder, Network.VIDEO_VAE, WeightLayout.DIFFUSERS, json, folder);
            case "AutoencoderKLMiniMaxH3Audio" -> of(folder, Network.AUDIO_VAE, WeightLayout.DIFFUSERS, json, folder);
            case OriginalConfigs.TRANSFORMER -> of(folder, Network.TRANSFORMER, WeightLayout.ORIGINAL, OriginalConfigs.transformer(json), folder);
            case OriginalConfigs.VIDEO_VAE -> videoVae(folder, json);
            case OriginalConfigs.AUDIO_VAE -> audioVae(folder, json);
            default -> null;
        });
    }

    /**
     * Maps the weights under the names that the network reads, or makes random ones where the folder has a file
     * {@code random_weights.json} in place of weights.
     *
     * @throws BadWeightsException when they do not fit the config
     */
    public TensorSource open() {
        return randomWeights().orElseGet(() -> network.open(WeightFiles.open(weights), layout, config));
    }

    /** Its tensors under the names that the files have; random ones, where they stand in for files, under those that the network reads. */
    public TensorSource stored() {
        return randomWeights().orElseGet(() -> WeightFiles.open(weights));
    }

    private Optional<TensorSource> randomWeights() {
        return RandomWeights.at(folder, () -> network.inventory(config));
    }

    /** True where random weights stand in for files. */
    public boolean random() {
        return RandomWeights.at(folder);
    }

    /** What does not fit between the config and what {@link #stored} gave, in one line, from headers alone. */
    public Optional<String> misfit(TensorSource stored) {
        return random() ? Optional.empty() : network.stored(layout, config).misfit(stored);
    }

    private static NetworkFolder of(Path folder, Network network, WeightLayout layout, JsonNode config, Path weights) {
        return new NetworkFolder(folder, network, layout, config, weights);
    }

    private static NetworkFolder videoVae(Path folder, JsonNode wrapper) {
        Path source = inside(folder, wrapper, "source_path", "source");
        return of(folder, Network.VIDEO_VAE, WeightLayout.ORIGINAL, OriginalConfigs.videoVae(wrapper, json(source, CONFIG)),
                inside(source, wrapper, "source_safetensors_path", "model.safetensors"));
    }

    private static NetworkFolder audioVae(Path folder, JsonNode wrapper) {
        Path metadata = inside(folder, wrapper, "source_metadata_path", "metadata.json");
        return of(folder, Network.AUDIO_VAE, WeightLayout.ORIGINAL,
                OriginalConfigs.audioVae(wrapper, json(metadata.getParent(), metadata.getFileName().toString())),
                inside(folder, wrapper, "source_safetensors_path", "model.safetensors"));
    }

    /** A path that a config states, which must stay in the folder. */
    private static Path inside(Path folder, JsonNode config, String field, String released) {
        String stated = config.path(field).asText(released);
        Path path = folder.resolve(stated).normalize();
        if (!path.startsWith(folder.normalize()) || path.equals(folder.normalize())) {
            throw new BadWeightsException(folder.resolve(CONFIG) + ": " + field + " is '" + stated + "', expected a path inside " + folder.getFileName());
        }
        return path;
    }

    private static JsonNode json(Path folder, String name) {
        Path file = folder.resolve(name);
        if (!Files.isDirectory(folder)) {
            throw new BadWeightsException(folder + (Files.exists(folder) ? ": is no folder, expected that of a network with its " + name : ": no such folder; check the path"));
        }
        if (!Files.exists(file) && DiffusersIndex.find(folder).isPresent()) {
            throw new BadWeightsException(folder + ": is a whole model, expected the folder of one network; give one that lies in it");
        }
        if (!Files.isRegularFile(file)) {
            throw new BadWeightsException(file + ": missing, expected the config of " + folder.getFileName() + "; the model folder is incomplete");
        }
        return Json.object(file);
    }
}
