package io.kinema.measure.bench;

import io.kinema.compute.cpu.CpuBackend;
import io.kinema.engine.Cancellation;
import io.kinema.engine.Clip;
import io.kinema.engine.EngineOptions;
import io.kinema.engine.H3Engine;
import io.kinema.engine.ProgressListener;
import io.kinema.engine.record.RunRecord;
import io.kinema.measure.contract.BenchContract;
import io.kinema.measure.telemetry.Sample;
import io.kinema.measure.telemetry.Sampler;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

/** Runs the bench protocol: one engine, one warm-up request, three measured ones. */
public final class Bench {
    private static final double SGEMM_SECONDS = 1;

    private final Function<EngineOptions, H3Engine> opener;
    private final Supplier<JvmState> state;

    private Bench(Function<EngineOptions, H3Engine> opener, Supplier<JvmState> state) {
        this.opener = opener;
        this.state = state;
    }

    /** On the engines of this installation. */
    public static Bench standard() {
        return on(H3Engine::open);
    }

    /** On engines that are opened in another way, such as on a backend of one's own. */
    public static Bench on(Function<EngineOptions, H3Engine> opener) {
        return new Bench(opener, JvmState::current);
    }

    static Bench on(Function<EngineOptions, H3Engine> opener, Supplier<JvmState> state) {
        return new Bench(opener, state);
    }

    /**
     * What a bench tells while it runs, and hands over.
     *
     * @param progress of every request
     * @param starting "warm-up", "run 1 of 3", before each request
     * @param clips    every clip, the warm-up's first
     */
    public record Listener(ProgressListener progress, Consumer<String> starting, Consumer<Clip> clips) {
        /** Hears nothing. */
        public static final Listener NONE = new Listener(ProgressListener.NONE, text -> { }, clip -> { });
    }

    /**
     * Runs a contract.
     *
     * @param folder where {@code warm-up} and {@code run-1} to {@code run-3} with clip and run record go; it exists
     * @throws io.kinema.engine.BadRequestException when the model cannot do what the contract asks
     * @throws io.kinema.engine.CancelledException  when it was cancelled
     * @throws BenchRejectedException               when something observes or slows this process already
     */
    public BenchReport run(BenchContract contract, Path folder, Listener listener, Cancellation cancellation) {
        state.get().problems().stream().findFirst().ifPresent(problem -> {
            throw new BenchRejectedException(new Rejection(Rejection.Rule.PROFILED, problem));
        });
        Instant started = Instant.now();
        List<MeasuredRun> runs = new ArrayList<>();
        RunRecord last;
        List<Sample> samples;
        try (H3Engine engine = opener.apply(contract.execution()); Sampler sampler = Sampler.start(Sampler.INTERVAL)) {
            Requests requests = new Requests(engine, contract, folder, listener, cancellation);
            last = requests.make(runs, MeasuredRun.Role.WARM_UP, "warm-up");
            for (int i = 1; i <= BenchRules.MEASURED; i++) {
                last = requests.make(runs, MeasuredRun.Role.MEASURED, "run-" + i);
            }
            samples = sampler.samples();
        }
        return new BenchReport(contract, Environment.of(started, last), runs.stream().map(BenchReport.RunNumbers::of).toList(), BenchRules.check(runs),
                sgemm(last), samples);
    }

    private static OptionalDouble sgemm(RunRecord record) {
        if (!record.execution().backend().equals("cpu")) {
            return OptionalDouble.empty();
        }
        try (CpuBackend backend = CpuBackend.open(record.execution().threads())) {
            return OptionalDouble.of(backend.sgemmRate(SGEMM_SECONDS));
        }
    }

    /** Makes one request after the other. */
    private final class Requests {
        private final H3Engine engine;
        private final BenchContract contract;
        private final Path folder;
        private final Listener listener;
        private final Cancellation cancellation;

        Requests(H3Engine engine, BenchContract contract, Path folder, Listener listener, Cancellation cancellation) {
            this.engine = engine;
            this.contract = contract;
            this.folder = folder;
            this.listener = listener;
            this.cancellation = cancellation;
        }

        RunRecord make(List<MeasuredRun> runs, MeasuredRun.Role role, String name) {
            Path here = create(folder.resolve(name));
            listener.starting().accept(name);
            List<String> profilers = new ArrayList<>(state.get().problems());
            long start = System.nanoTime();
            Clip clip = engine.generate(contract.request(), listener.progress(), cancellation);
            clip.writeMp4(here.resolve("clip.mp4"));
            double seconds = (System.nanoTime() - start) / 1e9;
            profilers.addAll(state.get().problems());
            clip.writeRecord(here.resolve("clip.json"));
            runs.add(MeasuredRun.of(role, clip.record(), seconds, profilers));
            listener.clips().accept(clip);
            return clip.record();
        }
    }

    private static Path create(Path folder) {
        try {
            return Files.createDirectories(folder);
        } catch (IOException e) {
            throw new UncheckedIOException(folder + ": cannot be made; choose a folder that can be written", e);
        }
    }
}
