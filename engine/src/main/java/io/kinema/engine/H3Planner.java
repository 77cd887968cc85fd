package io.kinema.engine;

import io.kinema.engine.forecast.Planner;
import io.kinema.engine.forecast.Rates;
import io.kinema.engine.forecast.RunPlan;
import io.kinema.engine.layout.FrameCounts;
import io.kinema.engine.model.BundledModel;
import io.kinema.engine.model.Component;
import io.kinema.engine.model.ModelFolder;
import io.kinema.engine.model.ModelGeometry;
import io.kinema.engine.model.TransformerWeights;
import io.kinema.engine.pipeline.AdapterLibrary;
import io.kinema.engine.plan.ResolvedRequest;
import io.kinema.media.container.HeaderReader;
import io.kinema.model.dit.DitConfig;
import java.util.EnumSet;
import java.util.Set;

/**
 * Owns the adapter files that it has read until it is closed; closing twice is harmless. Says what a request would do and cost, without
 * loading a weight or opening a device; it refuses what {@link H3Engine#generate} would refuse. Any number of threads may use it.
 */
public final class H3Planner implements AutoCloseable {
    private final EngineOptions options;
    private final ModelFolder model;
    private final AdapterLibrary adapters = new AdapterLibrary();

    private H3Planner(EngineOptions options, ModelFolder model) {
        this.options = options;
        this.model = model;
    }

    /**
     * Reads the model's configs.
     *
     * @param options how an engine would run it
     * @throws io.kinema.weights.BadWeightsException when the folder is missing or no H3 model
     */
    public static H3Planner open(EngineOptions options) {
        return new H3Planner(options, ModelFolder.open(options.model().orElseGet(BundledModel::folder)));
    }

    /** {@link #plan(GenerateRequest, Rates)} once. */
    public static RunPlan plan(EngineOptions options, GenerateRequest request, Rates rates) {
        try (H3Planner planner = open(options)) {
            return planner.plan(request, rates);
        }
    }

    /** The name of the model's folder. */
    public String modelName() {
        return String.valueOf(model.root().getFileName());
    }

    /** The sizes that requests are checked against. */
    public ModelGeometry geometry() {
        return model.geometry();
    }

    /**
     * Checks a request and fills in its defaults.
     *
     * @throws BadRequestException                   when it breaks a rule
     * @throws io.kinema.media.BadMediaException     when a file it names cannot be read
     * @throws io.kinema.weights.BadWeightsException when an adapter it names is not whole or not for this model
     */
    public ResolvedRequest resolve(GenerateRequest request) {
        return FileHeaders.resolver(model.geometry(), (use, task) -> adapters.read(use, transformer(task))).resolve(request);
    }

    /**
     * Plans a request.
     *
     * @param rates what this machine measured before; {@link Rates#NONE} makes a quick probe instead
     * @throws BadRequestException                   when it breaks a rule
     * @throws io.kinema.media.BadMediaException     when a file it names cannot be read
     * @throws io.kinema.weights.BadWeightsException when the folder is no whole H3 model
     */
    public RunPlan plan(GenerateRequest request, Rates rates) {
        ResolvedRequest resolved = resolve(request);
        return planner(options, model).plan(resolved, FileHeaders::size, HeaderReader::read, rates);
    }

    /**
     * Checks all that no request can change, as {@link #plan} would with each request: names of devices and options, the weight files of every
     * task that they serve, and limits, which must hold the smallest clip.
     *
     * @throws BadRequestException                   when the options do not go together, or with this build or model
     * @throws io.kinema.weights.BadWeightsException when a weight file is missing or broken, or is for no task of the model
     */
    public void check() {
        Planner planner = planner(options, model);
        Set<Task> served = tasks();
        served.forEach(planner::check);
        if (served.contains(Task.T2VA)) {
            int side = model.geometry().canvasMultiple();
            double shortest = Math.max(model.geometry().limits().minSeconds(), 1.0 / FrameCounts.FPS);
            GenerateRequest smallest = GenerateRequest.prompt("a").task(Task.T2VA).size(side, side).seconds(shortest).steps(1).build();
            planner.residency(resolve(smallest), FileHeaders::size, HeaderReader::read);
        }
    }

    /** Checks an adapter against the model. @throws io.kinema.weights.BadWeightsException when it fits none of its tasks */
    public void check(AdapterUse adapter) {
        adapters.read(adapter, transformer(tasks().iterator().next()));
    }

    /** Tasks that the weights are for: a file in the transformer's place may say by its name that it is of one partition. */
    private Set<Task> tasks() {
        Set<Task> served = EnumSet.copyOf(model.tasks());
        served.removeIf(task -> !weights(task).isFor(task));
        if (served.isEmpty()) {
            Task any = model.tasks().iterator().next();
            weights(any).requireFor(any);
        }
        return served;
    }

    static Planner planner(EngineOptions options, ModelFolder model) {
        return new Planner(model, options.transformer(), options.transformerLayout(), options.device(), options.threads(), options.ranks(), options.backend(),
                options.precision(), options.fp16WeightLayoutInForce(), options.weightOffload(), options.residency());
    }

    private DitConfig transformer(Task task) {
        return DitConfig.read(weights(task).requireFor(task).config());
    }

    private TransformerWeights weights(Task task) {
        return TransformerWeights.of(model.network(Component.transformerOf(task)), options.transformer(), options.transformerLayout());
    }

    @Override
    public void close() {
        adapters.close();
    }
}
