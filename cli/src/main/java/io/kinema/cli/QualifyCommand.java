package io.kinema.cli;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kinema.engine.BadRequestException;
import io.kinema.engine.CancelledException;
import io.kinema.engine.EngineOptions;
import io.kinema.engine.EngineOptionsJson;
import io.kinema.measure.bench.BenchRejectedException;
import io.kinema.measure.bench.BenchReport;
import io.kinema.measure.contract.BenchContract;
import io.kinema.measure.qualify.Ledger;
import io.kinema.measure.qualify.Qualification;
import io.kinema.quality.GateLine;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code kinema qualify}: is another way of running right, and how fast is it? */
@Command(name = "qualify", sortOptions = false, customSynopsis = {"kinema qualify --contract FILE --candidate NAME=VALUE[,NAME=VALUE...] [OPTION...]", "kinema qualify --list"},
        description = "Holds candidates to a contract's own way of running, with the same weights, noise and request: quality gates, then the bench of both. "
                + "Each outcome goes into the ledger, from which --execution auto chooses.",
        footer = {"", "Exit code 0 when every candidate qualifies, else 1. Names are those of a contract's execution: precision, threads, fp16_weight_layout, transformer, ..."})
final class QualifyCommand implements Callable<Integer> {
    private final Terminal terminal;

    @Spec
    private CommandSpec spec;

    @Option(names = "--contract", paramLabel = "FILE", description = "Request, limits and baseline, for example contracts/h3-nano.json.")
    private Optional<Path> contract = Optional.empty();

    @Option(names = "--candidate", paramLabel = "NAME=VALUE,...", description = "What is different from the contract's execution; may be given more than once.")
    private List<String> candidates = List.of();

    @Option(names = "--output", paramLabel = "DIR", description = "Keep the benches' clips and run records there; a new or an empty folder.")
    private Optional<Path> output = Optional.empty();

    @Option(names = "--list", description = "Show the ledger instead.")
    private boolean list;

    @Option(names = "--json", description = "Print the ledger's entries as one JSON document.")
    private boolean json;

    @Option(names = "--quiet", description = "Print errors only, beside the result.")
    private boolean quiet;

    QualifyCommand(Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public Integer call() {
        Ledger ledger = Ledger.ofUser();
        if (list) {
            if (contract.isPresent() || !candidates.isEmpty() || output.isPresent()) {
                throw new ParameterException(spec.commandLine(), "--list: got it with what is to be measured, expected it alone or with --json");
            }
            return new LedgerPrinter(terminal, json).print(ledger);
        }
        if (contract.isEmpty() || candidates.isEmpty()) {
            throw new ParameterException(spec.commandLine(), "missing --contract FILE and at least one --candidate NAME=VALUE; see kinema qualify --help");
        }
        BenchContract whole = BenchContract.read(contract.get());
        List<EngineOptions> others = candidates.stream().map(text -> EngineOptionsJson.over(whole.execution(), known(overrides(text)))).toList();
        StartChecks.request(whole.execution(), whole.request());
        others.forEach(other -> StartChecks.request(other, whole.request()));
        List<Qualification.Outcome> outcomes = new ArrayList<>();
        try (Interruption interruption = Interruption.watch(); MeasurementFolder folder = MeasurementFolder.at(output);
                ProgressPrinter progress = ProgressPrinter.start(terminal, quiet)) {
            try {
                for (int i = 0; i < others.size(); i++) {
                    progress.note(candidates.get(i));
                    Path here = folder.path().resolve("candidate-" + (i + 1));
                    outcomes.add(Qualification.standard(ledger).qualify(whole, others.get(i), here, progress::note, progress, interruption.cancellation()));
                }
            } catch (BenchRejectedException rejected) {
                progress.close();
                terminal.err().println("kinema qualify: " + rejected.getMessage());
                return ExitCode.FAILED;
            } catch (CancelledException cancelled) {
                progress.note(cancelled.getMessage() + "; the ledger has the candidates before");
                return ExitCode.INTERRUPTED;
            }
        }
        print(outcomes);
        return outcomes.stream().allMatch(Qualification.Outcome::qualified) ? ExitCode.DONE : ExitCode.FAILED;
    }

    private void print(List<Qualification.Outcome> outcomes) {
        if (json) {
            ObjectNode document = JsonNodeFactory.instance.objectNode();
            ArrayNode entries = document.putArray("entries");
            outcomes.forEach(outcome -> entries.add(outcome.entry()));
            terminal.print(document.toPrettyString());
            return;
        }
        for (int i = 0; i < outcomes.size(); i++) {
            print(candidates.get(i), outcomes.get(i));
        }
    }

    private void print(String candidate, Qualification.Outcome outcome) {
        terminal.print(candidate + ": " + (outcome.qualified() ? "qualified" : "not qualified"));
        outcome.quality().lines().stream().map(GateLine::text).forEach(line -> terminal.print("  " + line));
        outcome.baseline().ifPresent(report -> terminal.print("  baseline   " + numbers(report)));
        outcome.candidate().ifPresent(report -> terminal.print("  candidate  " + numbers(report)));
        outcome.speedUp().ifPresent(value -> terminal.print(String.format(Locale.ROOT, "  %.2f times as fast", value)));
        outcome.reasons().forEach(reason -> terminal.print("  because    " + reason));
    }

    private static String numbers(BenchReport report) {
        return String.format(Locale.ROOT, "%.3f s to denoise, %.1f GFLOP/s, CV %.2f%%, %.3f s in all", report.medianDenoiseSeconds(), report.leastTflops() * 1e3,
                100 * report.cv(), report.medianLatencySeconds());
    }

    private static ObjectNode known(ObjectNode overrides) {
        overrides.fieldNames().forEachRemaining(name -> {
            if (!EngineOptionsJson.fields().contains(name)) {
                throw new BadRequestException("candidate", "'" + name + "'", "expected any of " + String.join(", ", EngineOptionsJson.fields()));
            }
        });
        return overrides;
    }

    /** {@code precision=fp16-fp32res,threads=2} as a contract's execution spells it. */
    static ObjectNode overrides(String text) {
        ObjectNode node = JsonNodeFactory.instance.objectNode();
        for (String part : text.split(",")) {
            int equals = part.indexOf('=');
            if (equals <= 0 || equals == part.length() - 1) {
                throw new BadRequestException("candidate", "'" + part + "'", "expected NAME=VALUE, for example precision=fp16-fp32res");
            }
            String name = part.substring(0, equals).strip().replace('-', '_');
            String value = part.substring(equals + 1).strip();
            if (value.matches("\\d{1,18}")) {
                node.put(name, Long.parseLong(value));
            } else {
                node.put(name, value);
            }
        }
        return node;
    }
}
