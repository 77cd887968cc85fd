package io.kinema.engine.convert;

import io.kinema.engine.RankOptions;
import io.kinema.engine.Task;
import io.kinema.engine.convert.ConversionReport.Written;
import io.kinema.engine.model.BundledModel;
import io.kinema.engine.model.Component;
import io.kinema.engine.model.ModelFolder;
import io.kinema.engine.model.NetworkFolder;
import io.kinema.engine.model.TransformerWeights;
import io.kinema.engine.plan.RankRules;
import io.kinema.model.dit.DitConfig;
import io.kinema.model.layout.Network;
import io.kinema.model.layout.StoredLayout;
import io.kinema.model.layout.StoredLayout.Target;
import io.kinema.model.layout.WeightLayout;
import io.kinema.model.load.Inventory.Rule;
import io.kinema.model.load.SharedGroups;
import io.kinema.weights.BadWeightsException;
import io.kinema.weights.CheckpointIdentity;
import io.kinema.weights.DType;
import io.kinema.weights.Int8Rows;
import io.kinema.weights.SafetensorsWriter;
import io.kinema.weights.SafetensorsWriter.Spec;
import io.kinema.weights.Shape;
import io.kinema.weights.TensorSource;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.regex.Pattern;

/**
 * Writes a transformer as one INT8 ConvRot file, in the form that ComfyUI's repacks have: the four matrices of every block as
 * signed bytes with a scale for each row, their input axis rotated in groups; everything else as it was. The groups are as wide
 * as the largest power of 4, up to a limit (256, as published), that divides the matrix's input width; a width that 4 does not
 * divide is not rotated. The file says so in its metadata and in each matrix's marker.
 */
public final class Quantizer {
    /** The rule in words, for help and metadata. */
    public static final String GROUP_RULE = "the largest power of 4 up to %d that divides the input width";

    private static final Pattern CODED = Pattern.compile("blocks\\.\\d+\\.(attn\\.(qkv|out)_proj|mlp\\.fc[12])\\.weight");
    /** Those of them whose columns ranks share. */
    private static final Pattern SHARED = Pattern.compile("blocks\\.\\d+\\.(attn\\.out_proj|mlp\\.fc2)\\.weight");

    private final TransformerWeights weights;
    private final TensorSource source;
    private final QuantizeOptions options;
    private final Consumer<String> progress;
    private final Map<String, QuantizeReport.Matrix> matrices = new TreeMap<>();

    private Quantizer(TransformerWeights weights, TensorSource source, QuantizeOptions options, Consumer<String> progress) {
        this.weights = weights;
        this.source = source;
        this.options = options;
        this.progress = progress;
    }

    /**
     * @param from     a model folder, a transformer's folder, or a transformer file of plain floats
     * @param to       the .safetensors file to be
     * @param progress is told the name of each matrix when it is written
     * @throws BadWeightsException when the source is broken or coded already, a value is not finite, or the target is there
     */
    public static QuantizeReport quantize(Path from, Path to, QuantizeOptions options, Consumer<String> progress) {
        requireFree(from, to, options.overwrite());
        TransformerWeights weights = weights(from, options);
        SourcePaths.requireFileApart(weights.path(), to);
        try (TensorSource source = weights.open()) {
            return new Quantizer(weights, source, options, progress).write(from, to);
        }
    }

    private static TransformerWeights weights(Path from, QuantizeOptions options) {
        if (!Files.exists(from)) {
            throw new BadWeightsException(from + ": no such file or folder; give a model folder, a transformer's folder or a transformer file");
        }
        if (Files.isDirectory(from) && Files.isRegularFile(from.resolve("config.json"))) {
            return TransformerWeights.of(transformer(from), Optional.empty());
        }
        if (Files.isDirectory(from)) {
            ModelFolder model = ModelFolder.open(from);
            Task task = options.task().orElseGet(() -> model.tasks().iterator().next());
            return TransformerWeights.of(model.network(Component.transformerOf(task)), Optional.empty());
        }
        NetworkFolder own = ModelFolder.open(options.model().orElseGet(BundledModel::folder)).network(Component.TRANSFORMER);
        return TransformerWeights.of(own, Optional.of(from), options.sourceLayout());
    }

    private static NetworkFolder transformer(Path folder) {
        NetworkFolder network = NetworkFolder.read(folder);
        if (network.network() != Network.TRANSFORMER) {
            throw new BadWeightsException(folder + ": holds a " + network.network().label() + ", expected a transformer");
        }
        return network;
    }

    private QuantizeReport write(Path from, Path to) {
        StoredLayout layout = StoredLayout.of(Network.TRANSFORMER, WeightLayout.COMFYUI, weights.config());
        List<Target> targets = List.copyOf(layout.tensors().sequencedValues());
        List<Spec> specs = new ArrayList<>();
        targets.forEach(t -> specs.addAll(specs(t)));
        Map<String, String> metadata = metadata(from);
        NetworkWriter plain = new NetworkWriter(source, Network.TRANSFORMER, weights.config(), WeightLayout.COMFYUI, Optional.empty());
        try (Workers workers = new Workers(options.threads()); StagedFolder staged = StagedFolder.forFile(to);
             SafetensorsWriter writer = SafetensorsWriter.create(staged.file(), specs, metadata)) {
            for (Target target : targets) {
                if (coded(target)) {
                    code(workers, writer, target);
                } else {
                    plain.write(writer, target);
                }
            }
            String sha256 = writer.commitVerified();
            staged.commitFile();
            return report(new Written(to.getFileName().toString(), Files.size(to), sha256), metadata);
        } catch (IOException e) {
            throw new BadWeightsException(to + ": cannot be read back (" + e.getMessage() + ")", e);
        }
    }

    private QuantizeReport report(Written file, Map<String, String> metadata) {
        DitConfig config = DitConfig.read(weights.config());
        List<Integer> able = RankOptions.SIZES.stream().filter(ranks -> RankRules.fits(ranks, config)).sorted().toList();
        List<QuantizeReport.Matrix> shared = matrices.values().stream().filter(m -> SHARED.matcher(m.name()).matches()).toList();
        List<Integer> ranks = able.stream().filter(n -> shared.stream().allMatch(m -> SharedGroups.fits(m.shape().dim(1), n, m.group()))).toList();
        OptionalInt group = ranks.equals(able) ? OptionalInt.empty()
                : SharedGroups.largest(shared.stream().map(m -> m.shape().dim(1)).distinct().toList(), able.getLast(), options.largestGroup());
        return new QuantizeReport(file, List.copyOf(matrices.values()), metadata, ranks, group);
    }

    private List<Spec> specs(Target target) {
        if (!coded(target)) {
            return List.of(new Spec(target.name(), plainType(target), target.shape()));
        }
        TensorStream stream = new TensorStream(source);
        if (target.names().stream().anyMatch(n -> stream.dtype(n).isEmpty())) {
            throw already(target);
        }
        String module = module(target);
        return List.of(new Spec(target.name(), DType.I8, target.shape()), new Spec(module + ".weight_scale", DType.F32, Shape.of(target.shape().dim(0))),
                new Spec(module + ".comfy_quant", DType.U8, Shape.of(Int8Rows.marker(group(target)).length)));
    }

    private void code(Workers workers, SafetensorsWriter writer, Target target) {
        Int8Target coded = new Int8Target(source, target, group(target));
        Int8Rows rows = coded.rows(workers);
        String module = module(target);
        writer.put(target.name(), rows.codes());
        writer.put(module + ".weight_scale", rows.scales());
        writer.put(module + ".comfy_quant", MemorySegment.ofArray(Int8Rows.marker(group(target))));
        matrices.put(target.name(), new QuantizeReport.Matrix(target.name(), target.shape(), group(target), Math.sqrt(rows.squaredError() / rows.squaredNorm())));
        progress.accept(target.name());
    }

    private DType plainType(Target target) {
        return target.rule() == Rule.FP32 || target.parts().isEmpty() ? DType.F32
                : new TensorStream(source).dtype(target.names().getFirst()).orElseThrow(() -> already(target));
    }

    private OptionalInt group(Target target) {
        return Int8Rows.group(target.shape().dim(1), options.largestGroup());
    }

    private boolean coded(Target target) {
        return CODED.matcher(target.name()).matches();
    }

    private static String module(Target target) {
        return target.name().substring(0, target.name().length() - ".weight".length());
    }

    private BadWeightsException already(Target target) {
        return new BadWeightsException(source.origin() + ": tensor " + target.names().getFirst() + " is "
                + new TensorStream(source).header(target.names().getFirst()).encoding() + " already, expected plain floats; quantise the original weights");
    }

    private Map<String, String> metadata(Path from) {
        Map<String, String> metadata = new TreeMap<>(Map.of("format", "pt", "kinema.quantization", "INT8 ConvRot: row scales, input axis rotated by a regular Hadamard matrix",
                "kinema.group_rule", String.format(Locale.ROOT, GROUP_RULE, options.largestGroup()), "kinema.source_sha256", CheckpointIdentity.of(weights.path()).sha256()));
        options.task().ifPresent(task -> metadata.put("kinema.partition", task == Task.REF2VA ? Task.REF2VA.label() : Task.FL2VA.label()));
        return metadata;
    }

    private static void requireFree(Path from, Path to, boolean overwrite) {
        if (Files.isDirectory(to)) {
            throw new BadWeightsException(to + ": is a folder, expected a .safetensors file to be; give another --output");
        }
        if (Files.exists(to) && !overwrite) {
            throw new BadWeightsException(to + ": is there already; give another --output, or --overwrite to replace it");
        }
        if (Files.exists(to) && !Files.isRegularFile(to)) {
            throw new BadWeightsException(to + ": is a pipe or a device, expected a .safetensors file to be; give another --output");
        }
        SourcePaths.requireFileApart(from, to);
    }
}
