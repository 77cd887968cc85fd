package io.kinema.engine;

import io.kinema.compute.Backend;
import io.kinema.compute.BackendReport;
import io.kinema.compute.Fallback;
import io.kinema.compute.Precision;
import io.kinema.compute.collective.RowReduction;
import io.kinema.compute.cpu.CpuBackend;
import io.kinema.engine.model.Component;
import io.kinema.engine.pipeline.H3Pipeline;
import io.kinema.engine.pipeline.ModelParts;
import io.kinema.engine.pipeline.RankDevices;
import io.kinema.engine.plan.ResolvedRequest;
import io.kinema.engine.record.HostFacts;
import io.kinema.engine.record.Installation;
import io.kinema.engine.record.RankRecord;
import io.kinema.engine.record.RunRecord;
import io.kinema.engine.record.SoundReport;
import io.kinema.engine.record.StageTime;
import io.kinema.engine.record.UsefulWork;
import io.kinema.engine.schedule.SigmaGrid;
import io.kinema.model.load.WeightResidency;
import io.kinema.weights.CheckpointIdentity;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;

/** Turns what a pipeline made into clips with their records. */
final class RunRecords {
    private final EngineOptions options;
    private final ModelParts parts;
    private final ResolvedRequest request;
    private final CompletableFuture<String> modelHash;
    private final CompletableFuture<Installation> installation;
    private final RunRecord.Session session;
    private final List<String> defaults;
    private final BackendReport before;
    private Optional<String> requestKey = Optional.empty();

    /**
     * @param asked     the request as it was given
     * @param request   and as it was understood
     * @param modelHash content hash of the model, on its way
     * @param installation the code's identity, on its way
     */
    RunRecords(EngineOptions options, ModelParts parts, GenerateRequest asked, ResolvedRequest request, RunRecord.Session session,
               CompletableFuture<String> modelHash, CompletableFuture<Installation> installation) {
        this.options = options;
        this.parts = parts;
        this.request = request;
        this.modelHash = modelHash;
        this.installation = installation;
        this.session = session;
        this.defaults = Defaults.of(asked, options);
        this.before = parts.backend().report();
    }

    Clip clip(int index, long seed, H3Pipeline.Made made, UsefulWork.Rows rows, List<StageTime> stages) {
        BackendReport now = parts.backend().report();
        int rate = parts.audioDecoder().config().samplingRate();
        SoundReport sound = SoundReport.of(made.left(), made.right(), rate);
        RunRecord record = new RunRecord(Instant.now(), session, request, defaults, new RunRecord.Output(index, seed), model(),
                new RunRecord.Engine(installation.join(), NativeLibraries.versions(parts.backend()), NativeLibraries.files(parts.backend())), HostFacts.here(), execution(),
                schedule(), stages, rows, made.ranks(), new RunRecord.Memory(HostFacts.peakResidentBytes(), parts.scratchBytes(), weights()),
                now.kernelCompilations() - before.kernelCompilations(), fallbacks(now, made.ranks()),
                sound, warnings(sound));
        return new Clip(request.width(), request.height(), made.frames(), made.left(), made.right(), rate, made.latents(), record);
    }

    /** What backends did in another way, and the reductions of residual rows, of which the first rank speaks for all. */
    private List<Fallback> fallbacks(BackendReport now, List<RankRecord> ranks) {
        List<Fallback> all = new ArrayList<>(now.fallbacks().subList(before.fallbacks().size(), now.fallbacks().size()));
        ranks.getFirst().rowReductions().ifPresent(report -> report.fallback().ifPresent(reason -> all.add(new Fallback("residual reduction",
                options.ranks().residual().reduction().label(), report.nativeCalls() > 0 ? RowReduction.Mode.NATIVE.label() : "none", reason))));
        return all;
    }

    /** {@link RequestKey} of the request. Waits for the model's hash. */
    String requestKey() {
        if (requestKey.isEmpty()) {
            requestKey = Optional.of(RequestKey.of(request, model(), execution(), options));
        }
        return requestKey.get();
    }

    private RunRecord.Model model() {
        Component transformer = Component.transformerOf(request.task());
        return new RunRecord.Model(parts.folder().root().getFileName().toString(),
                options.transformer().map(p -> p.getFileName().toString()).orElse(transformer.key()), modelHash.join(),
                CheckpointIdentity.of(parts.transformerPath(request.task())).sha256(), parts.encodings(request.task()).names());
    }

    private RunRecord.Execution execution() {
        SortedMap<String, String> choices = new TreeMap<>(parts.backend().choices());
        if (options.vaePrecision() != Precision.FP32) {
            choices.put("vae_precision", options.vaePrecision().label());
        }
        if (!parts.preparedWeights().isEmpty()) {
            choices.put("prepared_weights", parts.preparedWeights().entrySet().stream().map(e -> e.getKey() + ": " + e.getValue()).collect(Collectors.joining(", ")));
        }
        if (parts.ranks().size() > 1) {
            choices.put("text_encoder_ranks", "" + parts.textEncoderRanks());
        }
        options.route().ifPresent(reason -> choices.put("route", reason));
        List<Backend> backends = parts.ranks().backends();
        return new RunRecord.Execution(RankDevices.label(backends.stream().map(backend -> backend.device().toString()).toList()), parts.backend().name(),
                options.precision().label(), backends.stream().mapToInt(RunRecords::threads).sum(), options.ranks(), options.fp16WeightLayoutInForce(), choices);
    }

    private static int threads(Backend backend) {
        return backend instanceof CpuBackend cpu ? cpu.threads() : 1;
    }

    private RunRecord.Weights weights() {
        return new RunRecord.Weights(options.weightOffload().map(WeightResidency::label).orElse("none"), options.residency().hostWeights(), parts.heldBytes());
    }

    private RunRecord.Schedule schedule() {
        return new RunRecord.Schedule(sigmas(request.videoGrid()), sigmas(request.audioGrid()));
    }

    private static List<Float> sigmas(SigmaGrid grid) {
        List<Float> values = new ArrayList<>();
        for (float sigma : grid.sigmas()) {
            values.add(sigma);
        }
        return values;
    }

    private static List<String> warnings(SoundReport sound) {
        return sound.clipped() ? List.of(String.format(Locale.ROOT, "the sound is clipped: %.2f%% of its samples are at full scale (%d clicks)",
                100 * sound.fullScaleShare(), sound.clicks())) : List.of();
    }
}
