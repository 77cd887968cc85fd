package io.kinema.measure.qualify;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kinema.engine.Cancellation;
import io.kinema.engine.Clip;
import io.kinema.engine.EngineOptions;
import io.kinema.engine.H3Engine;
import io.kinema.engine.ProgressListener;
import io.kinema.engine.Task;
import io.kinema.measure.bench.Bench;
import io.kinema.measure.bench.BenchReport;
import io.kinema.measure.bench.GateResult;
import io.kinema.measure.contract.BenchContract;
import io.kinema.quality.GateLine;
import io.kinema.quality.Verdict;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * Holds a candidate way of running to its baseline on this machine: the same request and weights in both, the published quality gates on
 * the two clips, and then, when they pass, the bench of both. The outcome is an entry of the {@link Ledger}, good or bad.
 */
public final class Qualification {
    private final Function<EngineOptions, H3Engine> opener;
    private final Measuring bench;
    private final Ledger ledger;

    private Qualification(Function<EngineOptions, H3Engine> opener, Measuring bench, Ledger ledger) {
        this.opener = opener;
        this.bench = bench;
        this.ledger = ledger;
    }

    /** How a contract is measured: {@link Bench#run}. */
    @FunctionalInterface
    interface Measuring {
        BenchReport run(BenchContract contract, Path folder, Bench.Listener listener, Cancellation cancellation);
    }

    /** On the engines of this installation. */
    public static Qualification standard(Ledger ledger) {
        return new Qualification(H3Engine::open, Bench.standard()::run, ledger);
    }

    /** On engines and measurements of the caller's. */
    static Qualification on(Function<EngineOptions, H3Engine> opener, Measuring bench, Ledger ledger) {
        return new Qualification(opener, bench, ledger);
    }

    /**
     * What became of a candidate.
     *
     * @param quality   of its clip
     * @param baseline  bench of the baseline; empty when the quality failed
     * @param candidate bench of the candidate; empty when the quality failed
     * @param reasons   why it is not qualified; none when it is
     * @param entry     as it stands in the ledger
     */
    public record Outcome(Verdict quality, Optional<BenchReport> baseline, Optional<BenchReport> candidate, List<String> reasons, ObjectNode entry) {
        public Outcome {
            reasons = List.copyOf(reasons);
        }

        /** Right and steady. */
        public boolean qualified() {
            return reasons.isEmpty();
        }

        /** The baseline's median denoising time over the candidate's; empty when the quality failed. */
        public Optional<Double> speedUp() {
            return baseline.flatMap(base -> candidate.map(other -> base.medianDenoiseSeconds() / other.medianDenoiseSeconds()));
        }
    }

    /**
     * Qualifies one candidate.
     *
     * @param contract  request, limits and the baseline's way of running
     * @param candidate the other way, of the same model
     * @param folder    where the benches' clips and records go; it exists
     * @param says      one line before each part
     * @throws io.kinema.engine.BadRequestException  when the model or device cannot do what is asked
     * @throws io.kinema.engine.CancelledException   when it was cancelled; the ledger is as before
     */
    public Outcome qualify(BenchContract contract, EngineOptions candidate, Path folder, Consumer<String> says, ProgressListener progress, Cancellation cancellation) {
        ledger.requireWritable();
        says.accept("baseline, one clip");
        Clip reference = clip(contract, contract.execution(), progress, cancellation);
        says.accept("candidate, one clip");
        Clip clip = clip(contract, candidate, progress, cancellation);
        Verdict quality = ClipQuality.judge(clip, reference);
        List<String> reasons = new ArrayList<>(qualityReasons(quality));
        Optional<BenchReport> base = Optional.empty();
        Optional<BenchReport> other = Optional.empty();
        if (reasons.isEmpty()) {
            base = Optional.of(measure("baseline", contract, folder, says, progress, cancellation));
            other = Optional.of(measure("candidate", contract.withExecution(candidate), folder, says, progress, cancellation));
            reasons.addAll(benchReasons("baseline", base.get()));
            reasons.addAll(benchReasons("candidate", other.get()));
        }
        Task task = reference.record().request().task();
        ObjectNode entry = JsonNodeFactory.instance.objectNode().put("created", Instant.now().toString()).put("contract", contract.sha256());
        entry.set("shape", RequestShape.of(reference.record().request()));
        entry.set("baseline", side(contract.execution(), task, base));
        entry.set("candidate", side(candidate, task, other));
        entry.set("quality", quality.toJson());
        Outcome unwritten = new Outcome(quality, base, other, reasons, entry);
        unwritten.speedUp().ifPresentOrElse(value -> entry.put("speed_up", value), () -> entry.putNull("speed_up"));
        entry.put("verdict", reasons.isEmpty() ? "qualified" : "unqualified");
        ArrayNode why = entry.putArray("reasons");
        reasons.forEach(why::add);
        return new Outcome(quality, base, other, reasons, ledger.append(entry));
    }

    private Clip clip(BenchContract contract, EngineOptions options, ProgressListener progress, Cancellation cancellation) {
        try (H3Engine engine = opener.apply(options)) {
            return engine.generate(contract.request(), progress, cancellation);
        }
    }

    private BenchReport measure(String name, BenchContract contract, Path folder, Consumer<String> says, ProgressListener progress, Cancellation cancellation) {
        Bench.Listener listener = new Bench.Listener(progress, run -> says.accept(name + ", " + run), clip -> { });
        return bench.run(contract, folder.resolve(name), listener, cancellation);
    }

    private static ObjectNode side(EngineOptions options, Task task, Optional<BenchReport> report) {
        ObjectNode side = JsonNodeFactory.instance.objectNode();
        side.set("options", Route.of(options).options());
        side.set("inputs", RouteInputs.of(options, task).parts());
        report.ifPresentOrElse(bench -> {
            ObjectNode json = bench.toJson();
            side.set("result", json.path("result"));
            side.set("runs", json.path("runs"));
            side.set("rejected", json.path("rejected"));
        }, () -> side.putNull("result"));
        return side;
    }

    private static List<String> qualityReasons(Verdict quality) {
        List<String> reasons = new ArrayList<>();
        quality.lines().stream().filter(line -> !line.pass()).map(GateLine::text).forEach(reasons::add);
        quality.notMeasured().forEach(gate -> reasons.add(gate.label() + " could not be measured"));
        return reasons;
    }

    private static List<String> benchReasons(String name, BenchReport report) {
        List<String> reasons = new ArrayList<>();
        report.rejection().ifPresent(why -> reasons.add(name + " rejected as " + why.rule().key() + ": " + why.reason()));
        report.gates().stream().filter(gate -> !gate.pass()).map(GateResult::text).forEach(text -> reasons.add(name + ": " + text));
        return reasons;
    }
}
