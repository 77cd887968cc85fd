package io.kinema.engine;

import io.kinema.engine.forecast.Planner;
import io.kinema.engine.forecast.Rates;
import io.kinema.engine.forecast.RunPlan;
import io.kinema.engine.model.BundledModel;
import io.kinema.engine.model.Component;
import io.kinema.engine.model.ModelFolder;
import io.kinema.engine.model.TransformerWeights;
import io.kinema.engine.pipeline.AdapterLibrary;
import io.kinema.engine.plan.ResolvedRequest;
import io.kinema.media.container.HeaderReader;
import io.kinema.model.dit.DitConfig;

/** Says what a request would do and cost, without loading a weight; it refuses what {@link H3Engine#generate} would refuse. */
public final class H3Planner {
    private H3Planner() {
    }

    /**
     * Plans a request.
     *
     * @param options how an engine would run it
     * @param rates   what this machine measured before; {@link Rates#NONE} makes a quick probe instead
     * @throws BadRequestException                  when it breaks a rule
     * @throws io.kinema.media.BadMediaException    when a file it names cannot be read
     * @throws io.kinema.weights.BadWeightsException when the folder is no whole H3 model
     */
    public static RunPlan plan(EngineOptions options, GenerateRequest request, Rates rates) {
        ModelFolder model = ModelFolder.open(options.model().orElseGet(BundledModel::folder));
        try (AdapterLibrary adapters = new AdapterLibrary()) {
            ResolvedRequest resolved = FileHeaders.resolver(model.geometry(),
                    (use, task) -> adapters.read(use, transformer(model, options, task))).resolve(request);
            return new Planner(model, options.transformer(), options.device(), options.threads(), options.backend(), options.precision())
                    .plan(resolved, FileHeaders::size, HeaderReader::read, rates);
        }
    }

    private static DitConfig transformer(ModelFolder model, EngineOptions options, Task task) {
        return DitConfig.read(TransformerWeights.of(model.network(Component.transformerOf(task)), options.transformer()).config());
    }
}
