package io.kinema.cli;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kinema.engine.verify.CheckResult;
import io.kinema.engine.verify.Verifier;
import io.kinema.engine.verify.VerifyOptions;
import io.kinema.engine.verify.VerifyReport;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code kinema verify}: golden cases against this engine, one line a comparison. */
@Command(name = "verify", sortOptions = false,
        description = "Computes every check of the golden cases and compares it with the stored numbers.",
        footer = {"", "Exits with 0 when every value is within its limit, with 1 when one is not or a case or check is wrong (one MISS each),",
                "with 2 when a path holds no case."})
final class VerifyCommand implements Callable<Integer> {
    private final Terminal terminal;

    @Parameters(paramLabel = "CASE", arity = "1..*", description = "Folders with a case.json, or trees of such folders.")
    private List<Path> cases;

    @Option(names = "--device", paramLabel = "cpu|cuda:N|reference", description = "Where it runs; reference is the slow scalar oracle "
            + "(default: cpu).")
    private Optional<String> device = Optional.empty();

    @Option(names = "--precision", paramLabel = "PLAN", description = "Instead of the precision that a check states: "
            + "fp32, fp16-fp32res or bf16-fp32res.")
    private Optional<String> precision = Optional.empty();

    @Option(names = "--threads", paramLabel = "N", description = "Compute threads (default: one for each core).")
    private Optional<Integer> threads = Optional.empty();

    @Option(names = "--model", paramLabel = "DIR", description = "Instead of the networks that the cases name: those of this model, "
            + "in either layout; its weights should be the same.")
    private Optional<Path> model = Optional.empty();

    @Mixin
    private DeviceOptions deviceOptions = new DeviceOptions();

    @Mixin
    private ParallelOptions parallelOptions = new ParallelOptions();

    @Option(names = "--stages", description = "Compare named intermediates too and name the first wrong one.")
    private boolean stages;

    @Option(names = "--quiet", description = "Print misses and the last line only.")
    private boolean quiet;

    @Option(names = "--json", description = "Print one JSON document.")
    private boolean json;

    VerifyCommand(Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public Integer call() {
        VerifyOptions options = new VerifyOptions(device.orElse("cpu"), precision.map(ExecutionOptions::precision),
                threads.map(_ -> OptionalInt.of(ExecutionOptions.threads(threads))).orElse(OptionalInt.empty()), stages, model,
                parallelOptions.ranks(), deviceOptions.backend());
        ArrayNode results = JsonNodeFactory.instance.arrayNode();
        Consumer<CheckResult> listener = json ? result -> results.add(document(result)) : this::print;
        try (Verifier verifier = Verifier.open(options)) {
            VerifyReport report = verifier.verify(cases, listener);
            terminal.print(json ? document(report).set("results", results).toPrettyString() : summary(report));
            return report.ok() ? ExitCode.DONE : ExitCode.FAILED;
        }
    }

    private void print(CheckResult result) {
        if (!quiet || !result.ok()) {
            terminal.print(result.line());
        }
        result.firstWrongStage().ifPresent(stage -> terminal.print("    first wrong intermediate: " + stage.name() + " "
                + number(stage.measured().orElseThrow()) + " (limit " + number(stage.limit()) + ")"
                + (stage.note().isEmpty() ? "" : "  " + stage.note())));
    }

    private static String summary(VerifyReport report) {
        return report.cases() + " cases, " + report.checks() + " checks, " + report.lines() + " comparisons: "
                + (report.ok() ? "all within their limits" : report.misses() + " MISSED");
    }

    private static ObjectNode document(VerifyReport report) {
        return JsonNodeFactory.instance.objectNode().put("ok", report.ok()).put("cases", report.cases())
                .put("checks", report.checks()).put("comparisons", report.lines()).put("misses", report.misses());
    }

    private static ObjectNode document(CheckResult result) {
        ObjectNode node = JsonNodeFactory.instance.objectNode().put("case", result.caseName()).put("check", result.check())
                .put("label", result.label()).put("output", result.output()).put("metric", result.metric())
                .put("limit", result.limit()).put("ok", result.ok());
        result.precision().ifPresent(plan -> node.put("precision", plan));
        result.measured().ifPresent(value -> node.put("measured", value));
        if (!result.note().isEmpty()) {
            node.put("note", result.note());
        }
        if (!result.stages().isEmpty()) {
            ArrayNode all = node.putArray("stages");
            result.stages().forEach(stage -> {
                ObjectNode one = all.addObject().put("name", stage.name()).put("limit", stage.limit()).put("ok", stage.ok());
                stage.measured().ifPresent(value -> one.put("measured", value));
            });
        }
        return node;
    }

    private static String number(double value) {
        return String.format(Locale.ROOT, "%.3g", value);
    }
}
