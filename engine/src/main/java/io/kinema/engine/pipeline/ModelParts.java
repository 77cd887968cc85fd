package io.kinema.engine.pipeline;

import io.kinema.compute.Backend;
import io.kinema.compute.MatrixLayout;
import io.kinema.compute.Precision;
import io.kinema.compute.collective.BackendGroup;
import io.kinema.compute.collective.Communicator;
import io.kinema.engine.AdapterUse;
import io.kinema.engine.Task;
import io.kinema.engine.model.Component;
import io.kinema.engine.model.ModelFolder;
import io.kinema.engine.model.NetworkFolder;
import io.kinema.engine.model.TransformerWeights;
import io.kinema.engine.model.WeightEncodings;
import io.kinema.engine.plan.LayerRules;
import io.kinema.engine.plan.RankRules;
import io.kinema.engine.prepared.NetworkOpening;
import io.kinema.engine.prepared.PreparedWeights;
import io.kinema.engine.prompt.H3Tokenizer;
import io.kinema.model.AutoencoderPart;
import io.kinema.model.adapter.Adapter;
import io.kinema.model.audio.AudioVae;
import io.kinema.model.audio.AudioVaeConfig;
import io.kinema.model.dit.Dit;
import io.kinema.model.dit.DitConfig;
import io.kinema.model.dit.RankedDit;
import io.kinema.model.dit.ResidualSharding;
import io.kinema.model.dit.Transformer;
import io.kinema.model.layout.WeightLayout;
import io.kinema.model.load.HostWeights;
import io.kinema.model.load.Parameters.Rounding;
import io.kinema.model.load.WeightPlacement;
import io.kinema.model.load.WeightResidency;
import io.kinema.model.text.PromptEncoder;
import io.kinema.model.text.RankedTextEncoder;
import io.kinema.model.text.TextEncoder;
import io.kinema.model.text.TextEncoderConfig;
import io.kinema.model.video.VideoVae;
import io.kinema.model.video.VideoVaeConfig;
import io.kinema.weights.TensorSource;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.concurrent.Executor;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * Owns a model's tokenizer, networks and weight maps until it is closed; each is opened when it is first asked for and then
 * kept, so a later request finds it ready. Closing twice is harmless. The ranks must outlive it. Used by one thread.
 */
public final class ModelParts implements AutoCloseable {
    /** The networks that every task needs beside its transformer. */
    private static final List<Component> NETWORKS = List.of(Component.TEXT_ENCODER, Component.VIDEO_VAE, Component.AUDIO_VAE);

    private final ModelFolder folder;
    private final BackendGroup ranks;
    private final Precision precision;
    private final Optional<Path> transformer;
    private final MatrixLayout fp16WeightLayout;
    private final Optional<WeightResidency> offload;
    private int residentLayers;
    private final Precision vaePrecision;
    private final Optional<WeightLayout> transformerLayout;
    private final Optional<ResidualSharding> residual;
    private final PreparedWeights prepared;
    private final AdapterLibrary library = new AdapterLibrary();
    private final Checkpoints checkpoints;
    /** The last that an adapter has edited: kept, because a transformer of them may be opened and closed by turns. */
    private Optional<EditedWeights> edited = Optional.empty();
    private final Map<Object, AutoCloseable> open = new HashMap<>();
    private final ScratchPeaks scratch = new ScratchPeaks();
    /** What was opened, newest first: networks must be closed before the weights they are views of. */
    private final Deque<AutoCloseable> owned = new ArrayDeque<>();

    /**
     * @param precision   plan of the transformer and the text encoder
     * @param transformer weights used in place of the folder's own transformers
     * @param transformerLayout of those weights, where their names leave it open
     */
    public ModelParts(ModelFolder folder, Backend backend, Precision precision, Optional<Path> transformer, Optional<WeightLayout> transformerLayout) {
        this(folder, BackendGroup.alone(backend), precision, transformer, transformerLayout, MatrixLayout.ROW, Optional.empty(), HostWeights.MMAP, Precision.FP32,
                Optional.empty(), PreparedWeights.off());
    }

    /**
     * @param ranks            that share the transformer; the first one's backend runs what is not shared
     * @param fp16WeightLayout of the transformer's FP16 matrices, if its plan has any
     * @param vaePrecision     plan of the video decoder's products
     * @param offload          keep one network at a time on the device, whole or one layer of it; empty keeps all that were opened
     * @param hostWeights      what host memory weights are read from
     * @param residual         that the transformer's residual rows live once across the ranks; empty keeps all of them on every rank
     * @param prepared         weights in their final form; closed with this
     */
    public ModelParts(ModelFolder folder, BackendGroup ranks, Precision precision, Optional<Path> transformer, Optional<WeightLayout> transformerLayout,
                      MatrixLayout fp16WeightLayout, Optional<WeightResidency> offload, HostWeights hostWeights, Precision vaePrecision,
                      Optional<ResidualSharding> residual, PreparedWeights prepared) {
        this.folder = folder;
        this.ranks = ranks;
        this.precision = precision;
        this.transformer = transformer;
        this.fp16WeightLayout = fp16WeightLayout;
        this.offload = offload;
        this.vaePrecision = vaePrecision;
        this.transformerLayout = transformerLayout;
        this.residual = residual;
        this.prepared = prepared;
        this.checkpoints = new Checkpoints(backend(), hostWeights);
        owned.push(checkpoints);
        owned.push(prepared);
    }

    public ModelFolder folder() {
        return folder;
    }

    /** The first rank's. */
    public Backend backend() {
        return ranks.backends().getFirst();
    }

    /** Those that share the transformer. */
    public BackendGroup ranks() {
        return ranks;
    }

    public Precision precision() {
        return precision;
    }

    public H3Tokenizer tokenizer() {
        return part(Component.TOKENIZER, () -> H3Tokenizer.open(folder.folder(Component.TOKENIZER)), H3Tokenizer.class);
    }

    public PromptEncoder textEncoder() {
        return part(Component.TEXT_ENCODER, () -> {
            TensorSource weights = prepared.over(Component.TEXT_ENCODER, weights(folder.folder(Component.TEXT_ENCODER)));
            int layer = TextEncoderConfig.CONDITION_LAYER;
            return textEncoderRanks() == 1
                    ? TextEncoder.open(backend(), weights, textConfig(), layer, precision, Rounding.of(precision), residency())
                    : RankedTextEncoder.open(ranks, weights, textConfig(), layer, precision, Rounding.of(precision), residency());
        }, PromptEncoder.class);
    }

    /** Ranks that share the text encoder: all of them, or the first alone where its heads or channels cannot be shared out. */
    public int textEncoderRanks() {
        return textConfig().text().ranksOf(ranks.size());
    }

    private TextEncoderConfig textConfig() {
        return TextEncoderConfig.read(folder.config(Component.TEXT_ENCODER));
    }

    /** The transformer of a task. Two tasks that share one folder share one transformer. */
    public Transformer transformer(Task task) {
        Path path = transformerPath(task);
        return part(path, () -> transformer(task, prepared.over(path, transformerTensors(task))), Transformer.class);
    }

    private Transformer transformer(Task task, TensorSource weights) {
        Rounding rounding = Rounding.of(precision);
        WeightPlacement placement = new WeightPlacement(residency(), residentLayers);
        return ranks.size() == 1 ? Dit.open(backend(), weights, config(task), precision, rounding, fp16WeightLayout, placement, Communicator.ALONE, residual)
                : RankedDit.open(ranks, weights, config(task), precision, rounding, fp16WeightLayout, placement, residual);
    }

    /**
     * The transformer of a task with these adapters in force until the next call. An adapter that edits whole weights makes a
     * transformer of its own; the others leave the base as it is.
     */
    public Transformer transformer(Task task, List<AdapterUse> adapters) {
        Optional<AdapterUse> editing = adapters.stream().filter(use -> adapter(use, task).fused()).findFirst();
        if (editing.isPresent()) {
            return editedTransformer(task, editing.get());
        }
        Transformer dit = transformer(task);
        library.use(dit, adapters);
        return dit;
    }

    /**
     * Finds or prepares the weights that a request will need, where the options keep them.
     *
     * @param media what will be encoded
     */
    void prepareWeights(Task task, List<AdapterUse> adapters, ConditionMedia media, Clock clock) {
        NetworkOpenings openings = new NetworkOpenings(folder, precision, vaePrecision, fp16WeightLayout, ranks.size());
        List<NetworkOpening> networks = new ArrayList<>();
        networks.add(openings.textEncoder(Component.TEXT_ENCODER, textEncoderRanks(), () -> weights(folder.folder(Component.TEXT_ENCODER))));
        // An adapter that edits whole weights makes others of them, for one request.
        if (adapters.stream().noneMatch(use -> adapter(use, task).fused())) {
            networks.add(openings.transformer(transformerPath(task), transformerWeights(task), () -> transformerTensors(task)));
        }
        Set<AutoencoderPart> video = media instanceof ConditionMedia.None ? EnumSet.of(AutoencoderPart.DECODER) : AutoencoderPart.both();
        Set<AutoencoderPart> audio = media instanceof ConditionMedia.References ? AutoencoderPart.both() : EnumSet.of(AutoencoderPart.DECODER);
        video.forEach(half -> networks.add(openings.videoVae("vae " + half, half, () -> weights(folder.folder(Component.VIDEO_VAE)))));
        audio.forEach(half -> networks.add(openings.audioVae("audio_vae " + half, half, () -> weights(folder.folder(Component.AUDIO_VAE)))));
        prepared.prepare(networks, backend(), clock);
    }

    /** What became of the weights that the options keep. */
    public SortedMap<String, String> preparedWeights() {
        return prepared.outcomes();
    }

    /** An adapter, checked against the transformer of a task. @throws io.kinema.weights.BadWeightsException when it does not fit */
    public Adapter adapter(AdapterUse use, Task task) {
        return library.read(use, config(task));
    }

    /** @throws io.kinema.engine.BadRequestException when it cannot be spread over the ranks, or has fewer layers than are to stay */
    private DitConfig config(Task task) {
        DitConfig config = DitConfig.read(transformerWeights(task).config());
        RankRules.require(ranks.size(), config);
        LayerRules.require(residentLayers, config);
        return config;
    }

    private TensorSource transformerTensors(Task task) {
        return checkpoints.of(transformerPath(task), () -> transformerWeights(task).open());
    }

    private Transformer editedTransformer(Task task, AdapterUse use) {
        EditedWeights.Key key = new EditedWeights.Key(transformerPath(task), adapter(use, task).sha256(), use.alpha());
        return part(key, () -> {
            if (edited.filter(e -> e.key().equals(key)).isEmpty()) {
                closeEdited();
                EditedWeights weights = EditedWeights.open(key, use, config(task), transformerTensors(task));
                edited = Optional.of(weights);
                owned.push(weights);
            }
            return transformer(task, edited.orElseThrow().tensors());
        }, Transformer.class);
    }

    private void closeEdited() {
        edited.ifPresent(weights -> {
            edited = Optional.empty();
            close(part -> part == open.get(weights.key()));
            owned.remove(weights);
            weights.close();
        });
    }

    /** Where the transformer of a task comes from. */
    public Path transformerPath(Task task) {
        return transformer.orElseGet(() -> folder.folder(Component.transformerOf(task)));
    }

    /** How the matrices of a task's transformer are stored. */
    public WeightEncodings encodings(Task task) {
        return transformerWeights(task).encodings();
    }

    private TransformerWeights transformerWeights(Task task) {
        return TransformerWeights.of(folder.network(Component.transformerOf(task)), transformer, transformerLayout).requireFor(task);
    }

    public VideoVae videoEncoder() {
        return videoVae(AutoencoderPart.ENCODER);
    }

    public VideoVae videoDecoder() {
        return videoVae(AutoencoderPart.DECODER);
    }

    public AudioVae audioEncoder() {
        return audioVae(AutoencoderPart.ENCODER);
    }

    public AudioVae audioDecoder() {
        return audioVae(AutoencoderPart.DECODER);
    }

    /**
     * Maps the weights that a task's request will need, and checks their headers against the configs; reads no tensor.
     *
     * @throws io.kinema.weights.BadWeightsException when a file is missing, cut off or damaged, or does not fit its config
     * @throws io.kinema.engine.BadRequestException  when the transformer cannot be spread over the ranks
     */
    public void openWeights(Task task) {
        RankedDit.requireShares(transformerTensors(task), config(task), ranks.size());
        NETWORKS.forEach(component -> weights(folder.folder(component)));
    }

    /**
     * Maps the weights that a task's request will need on other threads and returns at once. A failure is reported by the part
     * that needs them.
     */
    public void prefetch(Task task, Executor background) {
        checkpoints.prefetch(transformerPath(task), () -> transformerWeights(task).open(), background);
        for (Component component : NETWORKS) {
            Path path = folder.folder(component);
            checkpoints.prefetch(path, () -> NetworkFolder.read(path).open(), background);
        }
    }

    /** The most scratch bytes that each network opened so far has used, those that were closed to make room included. */
    public SortedMap<String, Long> scratchBytes() {
        return scratch.with(open.values());
    }

    private VideoVae videoVae(AutoencoderPart half) {
        return part("vae " + half, () -> VideoVae.open(ranks, prepared.over("vae " + half, weights(folder.folder(Component.VIDEO_VAE))),
                VideoVaeConfig.read(folder.config(Component.VIDEO_VAE)), vaePrecision, EnumSet.of(half)), VideoVae.class);
    }

    private AudioVae audioVae(AutoencoderPart half) {
        return part("audio_vae " + half, () -> AudioVae.open(backend(), prepared.over("audio_vae " + half, weights(folder.folder(Component.AUDIO_VAE))),
                AudioVaeConfig.read(folder.config(Component.AUDIO_VAE)), EnumSet.of(half)), AudioVae.class);
    }

    private <T extends AutoCloseable> T part(Object key, Supplier<T> opener, Class<T> type) {
        AutoCloseable part = open.get(key);
        if (part == null) {
            if (offload.isPresent() && type != H3Tokenizer.class) {
                closeNetworks();
            }
            part = opener.get();
            open.put(key, part);
            owned.push(part);
        }
        return type.cast(part);
    }

    /** True when only one network at a time is on the device, so that opening one ahead would be in vain. */
    public boolean oneNetworkAtATime() {
        return offload.isPresent();
    }

    private WeightResidency residency() {
        return offload.orElse(WeightResidency.COMPONENT);
    }

    /** Gives the device memory of all networks back; their weights stay mapped. */
    private void closeNetworks() {
        library.close();
        close(part -> !(part instanceof H3Tokenizer));
    }

    private void close(Predicate<AutoCloseable> which) {
        open.entrySet().removeIf(e -> {
            boolean closes = which.test(e.getValue());
            if (closes) {
                owned.remove(e.getValue());
                scratch.add(e.getValue());
                closeQuietly(e.getValue());
            }
            return closes;
        });
    }

    /**
     * How many of the transformer's layers stay on the device from now on, where layers are staged. Transformers that were opened with
     * another number are closed.
     */
    public void keepLayers(int count) {
        if (count != residentLayers) {
            residentLayers = count;
            library.close();
            close(part -> part instanceof Transformer);
        }
    }

    /** Bytes of weights copied to host memory. */
    public long heldBytes() {
        return checkpoints.heldBytes();
    }

    private TensorSource weights(Path networkFolder) {
        return checkpoints.of(networkFolder, () -> NetworkFolder.read(networkFolder).open());
    }

    @Override
    public void close() {
        library.close();
        open.clear();
        edited = Optional.empty();
        while (!owned.isEmpty()) {
            closeQuietly(owned.pop());
        }
    }

    private static void closeQuietly(AutoCloseable part) {
        try {
            part.close();
        } catch (Exception e) {
            throw new IllegalStateException("closing " + part.getClass().getSimpleName() + ": " + e.getMessage(), e);
        }
    }
}
