package io.kinema.engine.convert;

import com.fasterxml.jackson.databind.JsonNode;
import io.kinema.engine.model.BundledModel;
import io.kinema.engine.model.Component;
import io.kinema.engine.model.ModelFolder;
import io.kinema.engine.model.NetworkFolder;
import io.kinema.engine.model.OriginalPartition;
import io.kinema.engine.model.TransformerWeights;
import io.kinema.model.layout.Network;
import io.kinema.model.layout.OriginalConfigWriter;
import io.kinema.model.layout.WeightLayout;
import io.kinema.weights.BadWeightsException;
import io.kinema.weights.DType;
import io.kinema.weights.TensorSource;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Writes a model, one network of it or a transformer file in another layout or dtype. Everything is written beside the target,
 * read back, and put in its place in one step; what passes through is held in pieces, so that a model of any size is converted
 * in little memory. Where no dtype is narrowed, values keep their bits.
 */
public final class ModelConverter {
    private static final String CONFIG = "config.json";
    private static final Map<Network, String> DIFFUSERS_FILES = Map.of(Network.TRANSFORMER, "diffusion_pytorch_model.safetensors",
            Network.VIDEO_VAE, "diffusion_pytorch_model.safetensors", Network.AUDIO_VAE, "diffusion_pytorch_model.safetensors",
            Network.TEXT_ENCODER, "model.safetensors");

    /** What the partitions of the original layout have in common. */
    private static final List<Component> SHARED = List.of(Component.TEXT_ENCODER, Component.VIDEO_VAE, Component.AUDIO_VAE, Component.TOKENIZER, Component.PROCESSOR);

    private final ConversionOptions options;
    private final Path to;

    private ModelConverter(ConversionOptions options, Path to) {
        this.options = options;
        this.to = to;
    }

    /**
     * @param from     a model folder in either layout, a network's folder, or a transformer file of any format that is understood
     * @param to       the folder to be
     * @param progress is told the name of each file when it is written
     * @throws BadWeightsException when the source is broken, the target is there, or a value cannot be held by the dtype
     */
    public static ConversionReport convert(Path from, Path to, ConversionOptions options, Consumer<String> progress) {
        SourcePaths.requireFolderApart(from, to);
        try (StagedFolder staged = StagedFolder.beside(to, options.overwrite())) {
            FileSet files = new FileSet(staged.folder(), progress);
            new ModelConverter(options, to).write(from, files);
            ConversionReport report = files.finished(to);
            staged.commit();
            return report;
        }
    }

    private void write(Path from, FileSet files) {
        if (!Files.exists(from)) {
            throw new BadWeightsException(from + ": no such file or folder; give a model folder, a network's folder or a transformer file");
        }
        if (!Files.isDirectory(from)) {
            file(from, files);
        } else if (Files.isRegularFile(from.resolve(CONFIG))) {
            NetworkFolder network = NetworkFolder.read(from);
            network(network, "", files, dtype(network.network(), true));
        } else {
            model(ModelFolder.open(from), files);
        }
    }

    private void file(Path from, FileSet files) {
        NetworkFolder own = ModelFolder.open(options.model().orElseGet(BundledModel::folder)).network(Component.TRANSFORMER);
        TransformerWeights weights = TransformerWeights.of(own, Optional.of(from), options.sourceLayout());
        try (TensorSource source = weights.open()) {
            write(source, Network.TRANSFORMER, weights.config(), "", files, options.dtype());
        }
    }

    /** @param prefix of the files' names, with a slash at its end where there is one */
    private void network(NetworkFolder network, String prefix, FileSet files, Optional<DType> dtype) {
        // A model's folder may be a link to another place.
        SourcePaths.requireFolderApart(network.folder(), to);
        try (TensorSource source = network.open()) {
            write(source, network.network(), network.config(), prefix, files, dtype);
        }
    }

    private void write(TensorSource source, Network network, JsonNode config, String prefix, FileSet files, Optional<DType> dtype) {
        boolean original = options.layout() == WeightLayout.ORIGINAL;
        WeightLayout target = network == Network.TEXT_ENCODER ? WeightLayout.EITHER : options.layout();
        if (original) {
            OriginalConfigWriter.files(network, config).forEach((name, json) -> files.json(prefix + name, json));
        } else {
            files.json(prefix + CONFIG, config);
        }
        files.weights(prefix + (original ? OriginalConfigWriter.weights(network) : DIFFUSERS_FILES.get(network)),
                new NetworkWriter(source, network, config, target, dtype));
    }

    private void model(ModelFolder model, FileSet files) {
        ModelIndex index = ModelIndex.of(model);
        if (options.layout() == WeightLayout.DIFFUSERS) {
            index.diffusers().forEach(files::json);
            components(model, "", index.distinct(), files);
            return;
        }
        Optional<String> first = Optional.empty();
        for (OriginalPartition.Kind kind : index.partitions()) {
            String folder = kind.folder() + "/";
            files.json(folder + "model_index.json", index.original(kind));
            components(model, folder, List.of(kind.transformer()), files);
            if (first.isPresent()) {
                String other = first.get();
                SHARED.forEach(component -> files.again(other + name(component) + "/", folder + name(component) + "/"));
            } else {
                components(model, folder, SHARED, files);
                first = Optional.of(folder);
            }
        }
    }

    private void components(ModelFolder model, String prefix, List<Component> components, FileSet files) {
        for (Component component : components) {
            if (!model.folders().containsKey(component)) {
                continue;
            }
            String name = prefix + name(component);
            if (component.network()) {
                NetworkFolder network = model.network(component);
                network(network, name + "/", files, dtype(network.network(), false));
            }
            // Configs of networks are written anew; the text encoder's other small files and the tokenizer's are as they are.
            if (!component.network() || component == Component.TEXT_ENCODER) {
                files.copyOthers(name, model.folder(component), component.network() ? List.of(CONFIG, NetworkFolder.RANDOM_WEIGHTS) : List.of());
            }
        }
    }

    private String name(Component component) {
        boolean original = options.layout() == WeightLayout.ORIGINAL;
        return switch (component) {
            case VIDEO_VAE -> original ? "video_vae" : component.key();
            case TRANSFORMER_REF -> original ? Component.TRANSFORMER.key() : component.key();
            default -> component.key();
        };
    }

    /** Of a whole model the transformer and the text encoder are narrowed: narrower autoencoders sound and look worse and save little. */
    private Optional<DType> dtype(Network network, boolean alone) {
        boolean autoencoder = network == Network.VIDEO_VAE || network == Network.AUDIO_VAE;
        return autoencoder && !alone ? Optional.empty() : options.dtype();
    }
}
