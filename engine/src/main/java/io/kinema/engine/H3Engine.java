package io.kinema.engine;

import io.kinema.compute.Backend;
import io.kinema.compute.MatrixLayout;
import io.kinema.compute.collective.BackendGroup;
import io.kinema.engine.forecast.RunPlan;
import io.kinema.engine.layout.LatentShape;
import io.kinema.engine.model.BundledModel;
import io.kinema.engine.model.ModelFolder;
import io.kinema.engine.model.ModelGeometry;
import io.kinema.engine.pipeline.Backends;
import io.kinema.engine.pipeline.Clock;
import io.kinema.engine.pipeline.H3Pipeline;
import io.kinema.engine.pipeline.ModelParts;
import io.kinema.engine.pipeline.PipelineInput;
import io.kinema.engine.pipeline.PipelineTap;
import io.kinema.engine.pipeline.StepKeeper;
import io.kinema.engine.plan.ResolvedRequest;
import io.kinema.engine.prepared.PreparedWeights;
import io.kinema.engine.record.Installation;
import io.kinema.engine.record.RunRecord;
import io.kinema.engine.telemetry.EngineMetrics;
import io.kinema.media.BadMediaException;
import io.kinema.media.container.HeaderReader;
import io.kinema.model.load.WeightResidency;
import io.kinema.weights.BadWeightsException;
import io.kinema.weights.CheckpointIdentity;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

/**
 * Owns a model and the devices it runs on until it is closed. Networks are loaded by the first request that needs them and
 * stay loaded, so the second request is faster.
 *
 * <p>One request at a time: a call while another one runs throws {@link IllegalStateException}; open a second engine, or
 * queue. Closing is idempotent; while a request runs it is refused, so
 * cancel that one and wait for its end first. After close every method throws
 * {@link IllegalStateException}.
 *
 * {@snippet :
 * try (var engine = H3Engine.open(EngineOptions.defaults())) {
 *     Clip clip = engine.generate(GenerateRequest.prompt("A red circle bounces across a blue background").seed(1).build());
 *     clip.writeMp4(Path.of("clip.mp4"));
 * }
 * }
 */
public final class H3Engine implements AutoCloseable {
    private enum State { READY, BUSY, CLOSED }

    private final EngineOptions options;
    private final ModelFolder model;
    private final BackendGroup ranks;
    private final ModelParts parts;
    /** On its way from the start: hashing a large model takes a while, and only a finished clip's record needs it. */
    private final CompletableFuture<String> modelHash;
    private final CompletableFuture<Installation> installation = CompletableFuture.supplyAsync(Installation::here, Background::run);
    private final EngineMetrics metrics;
    private final String session = UUID.randomUUID().toString();
    private final AtomicInteger requests = new AtomicInteger();
    private final AtomicReference<State> state = new AtomicReference<>(State.READY);

    private H3Engine(EngineOptions options, ModelFolder model, BackendGroup ranks, EngineMetrics metrics) {
        this.metrics = metrics;
        this.options = options;
        this.model = model;
        this.ranks = ranks;
        this.parts = new ModelParts(model, ranks, options.precision(), options.transformer(), options.transformerLayout(),
                options.fp16WeightLayout().orElse(MatrixLayout.ROW), options.weightOffload(), options.residency().hostWeights(), options.vaePrecision(),
                options.ranks().residual().sharding(), new PreparedWeights(options.residency().preparedWeights()));
        this.parts.keepLayers(options.residency().residentLayers().orElse(0));
        this.modelHash = CompletableFuture.supplyAsync(() -> CheckpointIdentity.of(model.root()).sha256(), Background::run);
    }

    /**
     * Reads the model's configs and starts the device; weights are read by the first request.
     *
     * @throws io.kinema.weights.BadWeightsException when the folder is missing or no H3 model
     * @throws BadRequestException                   when this build has no such device
     */
    public static H3Engine open(EngineOptions options) {
        return open(options, EngineMetrics.none());
    }

    /** {@link #open(EngineOptions)} that counts and times what it does in a registry of the embedder's. */
    public static H3Engine open(EngineOptions options, MeterRegistry registry) {
        return open(options, EngineMetrics.in(registry));
    }

    private static H3Engine open(EngineOptions options, EngineMetrics metrics) {
        ModelFolder model = model(options);
        return new H3Engine(options, model, Backends.group(options.device(), options.ranks(), options.threads(), options.backend()).get(), metrics);
    }

    /**
     * {@link #open(EngineOptions)} on a backend of the embedder's own, in place of the one that the options name.
     *
     * @param backend closed with the engine, and when opening fails
     */
    public static H3Engine open(EngineOptions options, Backend backend) {
        return open(options, List.of(backend));
    }

    /**
     * {@link #open(EngineOptions)} on backends of the embedder's own, in place of those that the options name.
     *
     * @param backends one for each rank; closed with the engine, and when opening fails
     */
    public static H3Engine open(EngineOptions options, List<Backend> backends) {
        try {
            if (backends.size() != options.ranks().tensorParallel()) {
                throw new BadRequestException("tensorParallel", options.ranks().tensorParallel() + " and " + backends.size() + " backends", "expected one for each rank");
            }
            ModelFolder model = model(options);
            return new H3Engine(options, model, BackendGroup.of(backends, options.ranks().collectiveTimeout()), EngineMetrics.none());
        } catch (RuntimeException e) {
            backends.forEach(Backend::close);
            throw e;
        }
    }

    private static ModelFolder model(EngineOptions options) {
        return ModelFolder.open(options.model().orElseGet(BundledModel::folder));
    }

    /** The options it was opened with. */
    public EngineOptions options() {
        return options;
    }

    /** The sizes that requests are checked against. */
    public ModelGeometry geometry() {
        return model.geometry();
    }

    /**
     * Checks a request and fills in its defaults; loads nothing.
     *
     * @throws BadRequestException                when it breaks a rule
     * @throws io.kinema.media.BadMediaException  when a picture it names cannot be read
     */
    public ResolvedRequest resolve(GenerateRequest request) {
        requireOpen();
        return FileHeaders.resolver(model.geometry(), parts::adapter).resolve(request);
    }

    /**
     * Checks a request as {@link #resolve} does, and the headers of the weight files that it needs, which then stay mapped; reads
     * no weights. What it accepts fails later only for want of memory or space, or when a file is damaged beyond its header.
     *
     * @throws BadRequestException                when it breaks a rule
     * @throws io.kinema.media.BadMediaException  when a picture, video or sound it names cannot be read
     * @throws io.kinema.weights.BadWeightsException when a weight file is missing, cut off or does not fit its config
     * @throws IllegalStateException              when another request runs, or the engine is closed
     */
    public ResolvedRequest check(GenerateRequest request) {
        claim();
        try {
            ResolvedRequest resolved = FileHeaders.resolver(model.geometry(), parts::adapter).resolve(request);
            fit(resolved);
            parts.openWeights(resolved.task());
            return resolved;
        } catch (RuntimeException e) {
            throw CancelledException.orElse(e);
        } finally {
            state.set(State.READY);
        }
    }

    /** {@link #generate(GenerateRequest, ProgressListener, Cancellation)} without a listener. */
    public Clip generate(GenerateRequest request) {
        return generate(request, ProgressListener.NONE, new Cancellation());
    }

    /** {@link #generate(GenerateRequest, ProgressListener, Cancellation)} that nobody cancels. */
    public Clip generate(GenerateRequest request, ProgressListener listener) {
        return generate(request, listener, new Cancellation());
    }

    /**
     * Makes one clip.
     *
     * @param listener     hears the progress on this thread
     * @param cancellation stops it between steps and tiles
     * @throws BadRequestException   when the request breaks a rule, or asks for several outputs
     * @throws CancelledException    when it was cancelled, or the calling thread interrupted, which it then still is
     * @throws IllegalStateException when another request runs, or the engine is closed
     */
    public Clip generate(GenerateRequest request, ProgressListener listener, Cancellation cancellation) {
        if (request.outputs() > 1) {
            throw new BadRequestException("outputs", "" + request.outputs(), "expected 1 here; generateEach makes several");
        }
        List<Clip> clips = new ArrayList<>();
        generateEach(request, listener, cancellation, clips::add);
        return clips.getFirst();
    }

    /**
     * Makes every output of a request, one after the other; text and conditions are encoded once.
     *
     * @param taker gets each clip when it is finished; write it and let it go, so that one is in memory at a time
     */
    public void generateEach(GenerateRequest request, ProgressListener listener, Cancellation cancellation, Consumer<Clip> taker) {
        generateEach(request, listener, cancellation, Optional.empty(), taker);
    }

    /**
     * Makes every output of a request that an earlier attempt has not finished, and lets a later attempt go on from the last saved step.
     *
     * @param saving where the sampler's state is saved and looked for; where it cannot be written, the request goes on without
     */
    public void generateEach(GenerateRequest request, ProgressListener listener, Cancellation cancellation, StepSaving saving, Consumer<Clip> taker) {
        generateEach(request, listener, cancellation, Optional.of(saving), taker);
    }

    private void generateEach(GenerateRequest request, ProgressListener listener, Cancellation cancellation, Optional<StepSaving> saving,
                              Consumer<Clip> taker) {
        claim();
        Optional<Task> task = request.task();
        EngineMetrics.Outcome outcome = EngineMetrics.Outcome.FAILED;
        try {
            ResolvedRequest resolved = FileHeaders.resolver(model.geometry(), parts::adapter).resolve(request);
            task = Optional.of(resolved.task());
            fit(resolved);
            resolved.notes().forEach(note -> listener.progress(new Progress.Message(note)));
            make(request, resolved, metrics.watching(listener), cancellation, saving, taker);
            outcome = EngineMetrics.Outcome.DONE;
        } catch (RuntimeException e) {
            RuntimeException told = CancelledException.orElse(e);
            outcome = outcome(told);
            throw told;
        } finally {
            metrics.request(task, outcome);
            state.set(State.READY);
        }
    }

    private static EngineMetrics.Outcome outcome(RuntimeException failure) {
        return switch (failure) {
            case CancelledException _ -> EngineMetrics.Outcome.CANCELLED;
            case BadRequestException _, BadMediaException _, BadWeightsException _ -> EngineMetrics.Outcome.REFUSED;
            default -> EngineMetrics.Outcome.FAILED;
        };
    }

    /** Where there are limits: refuses what does not fit, and chooses how many layers stay. */
    private void fit(ResolvedRequest request) {
        if (options.residency().maxHostMemory().isEmpty() && options.backend().maxMemoryBytes().isEmpty()) {
            return;
        }
        RunPlan.Residency residency = H3Planner.planner(options, model).residency(request, FileHeaders::size, HeaderReader::read);
        if (residency.offload().equals(Optional.of(WeightResidency.LAYER))) {
            parts.keepLayers(residency.residentLayers());
        }
    }

    private void make(GenerateRequest asked, ResolvedRequest request, ProgressListener listener, Cancellation cancellation,
                      Optional<StepSaving> saving, Consumer<Clip> taker) {
        Clock clock = new Clock(listener, cancellation);
        PipelineInput input = PipelineInput.of(request, model.geometry());
        RunRecords records = new RunRecords(options, parts, asked, request,
                new RunRecord.Session(session, requests.getAndIncrement(), false), modelHash, installation);
        try (H3Pipeline pipeline = H3Pipeline.prepare(parts, input, clock, PipelineTap.NONE, options.graphReplayInForce())) {
            for (int k = StepSaving.firstOutput(saving); k < request.outputs(); k++) {
                long seed = request.seed() + k;
                if (request.outputs() > 1) {
                    listener.progress(new Progress.OutputStarted(k, request.outputs(), seed));
                }
                H3Pipeline.Made made = pipeline.make(seed, clock, PipelineTap.NONE, keeper(saving, k, request, records));
                Clip clip = records.clip(k, seed, made, pipeline.rows(), clock.stages());
                metrics.clip(clip.record());
                clip.record().warnings().forEach(warning -> listener.progress(new Progress.Message(warning)));
                taker.accept(clip);
                clock = new Clock(listener, cancellation);
            }
        }
    }

    private StepKeeper keeper(Optional<StepSaving> saving, int output, ResolvedRequest request, RunRecords records) {
        LatentShape shape = new LatentShape(model.geometry().latentChannels(), request.latentFrames(), request.latentHeight(), request.latentWidth());
        return saving.<StepKeeper>map(s -> new SavedSteps(s, output, request.steps(), records::requestKey,
                new LatentEstimate(request.videoGrid(), model.geometry().patch(), shape))).orElse(StepKeeper.NONE);
    }

    private void claim() {
        if (!state.compareAndSet(State.READY, State.BUSY)) {
            requireOpen();
            throw new IllegalStateException("engine: got a request while another one runs; an engine makes one at a time, open a second one or wait");
        }
    }

    private void requireOpen() {
        if (state.get() == State.CLOSED) {
            throw new IllegalStateException("engine: used after close; open a new one");
        }
    }

    /** Frees the model and the devices. @throws IllegalStateException while a request runs; cancel it and wait for its end */
    @Override
    public void close() {
        if (state.get() == State.CLOSED) {
            return;
        }
        if (!state.compareAndSet(State.READY, State.CLOSED)) {
            throw new IllegalStateException("engine: got close while a request runs; cancel it and wait for its end");
        }
        try (ranks) {
            parts.close();
        }
    }
}
