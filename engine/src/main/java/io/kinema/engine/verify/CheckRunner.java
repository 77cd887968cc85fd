package io.kinema.engine.verify;

import com.fasterxml.jackson.databind.JsonNode;
import io.kinema.engine.BadRequestException;
import io.kinema.engine.verify.CaseFile.Check;
import io.kinema.engine.verify.CaseFile.Entry;
import io.kinema.engine.verify.CaseFile.Expected;
import io.kinema.engine.verify.CaseFile.Malformed;
import io.kinema.engine.verify.CheckResult.StageResult;
import io.kinema.engine.verify.Operations.Operation;
import io.kinema.weights.Shape;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.SequencedSet;
import java.util.Set;
import java.util.TreeSet;

/** Runs one check and compares what comes out; a wrong check or a failure inside the engine is one miss that says why, never the end of a run. */
final class CheckRunner {
    private static final double STAGE_LIMIT = 1e-5;
    private static final int LONGEST = 200;

    private final CaseFile file;
    private final CaseFiles files;
    private final RunSettings run;
    private final Map<String, Operations> components;

    CheckRunner(CaseFile file, CaseFiles files, RunSettings run, Map<String, Operations> components) {
        this.file = file;
        this.files = files;
        this.run = run;
        this.components = components;
    }

    List<CheckResult> run(Entry entry) {
        return switch (entry) {
            case Malformed(int number, String label, String reason) -> List.of(new CheckResult(file.name(), number, label, Optional.empty(),
                    "", CheckResult.FORMAT, OptionalDouble.empty(), 0, false, oneLine(reason), List.of()));
            case Check check -> run(check);
        };
    }

    private List<CheckResult> run(Check check) {
        Operations component;
        Operation operation;
        try {
            component = named("component", file.component(), components, check);
            operation = named("op", check.op(), component.byName(), check);
            files.require(check);
        } catch (RuntimeException e) {
            return List.of(miss(check, CheckResult.FORMAT, reason(check, e)));
        }
        StageRecorder stages = new StageRecorder(run.options().stages() ? check.stages().keySet() : Set.of(), run::values);
        try {
            return answered(check, component, operation.answer(new Question(file, check, files, stages, run)), stages);
        } catch (RuntimeException e) {
            return failed(check, stages, e);
        } catch (OutOfMemoryError e) {
            // Arguments ask for one array that is too large; what was allocated before it is free again.
            return List.of(miss(check, CheckResult.FAILED, unspoken(check, "not enough memory")));
        }
    }

    private List<CheckResult> answered(Check check, Operations component, Answer answer, StageRecorder stages) {
        if (check.refusal()) {
            return List.of(line(check, "value", "refusal", OptionalDouble.of(1), 0, "the reference refuses this, got an answer", List.of()));
        }
        List<CheckResult> results = new ArrayList<>();
        check.outputs().forEach(expected -> results.add(compare(check, expected, answer)));
        if (check.value().isPresent()) {
            results.addAll(compareValue(check, component, answer));
        }
        return withStages(results, compareStages(check, stages));
    }

    private List<CheckResult> failed(Check check, StageRecorder stages, RuntimeException e) {
        if (check.refusal() && speaks(e)) {
            return List.of(line(check, "value", "refusal", OptionalDouble.of(0), 0, oneLine(e.getMessage()), List.of()));
        }
        List<CheckResult> results = new ArrayList<>(List.of(miss(check, CheckResult.FAILED, reason(check, e))));
        try {
            return withStages(results, compareStages(check, stages));
        } catch (RuntimeException unreadable) {
            // The stored intermediates are broken too; what failed first is what to say.
            return results;
        }
    }

    private <T> T named(String field, String name, Map<String, T> known, Check check) {
        if (!known.containsKey(name)) {
            throw new BadRequestException(where(check) + " " + field, name, "expected one of " + new TreeSet<>(known.keySet()));
        }
        return known.get(name);
    }

    private CheckResult miss(Check check, String metric, String reason) {
        return line(check, "", metric, OptionalDouble.empty(), 0, reason, List.of());
    }

    /** The engine's own messages speak for themselves; what Java says of arithmetic or arrays needs the arguments beside it. */
    private String reason(Check check, RuntimeException e) {
        if (speaks(e)) {
            return oneLine(e.getMessage());
        }
        return unspoken(check, e.getMessage() == null ? "no more is known" : e.getMessage());
    }

    private String unspoken(Check check, String detail) {
        String args = check.args().toString();
        String got = args.isEmpty() ? "no arguments" : args.length() > LONGEST ? args.substring(0, LONGEST) + "..." : args;
        return oneLine(where(check) + ": got " + got + ", expected arguments and tensors that " + check.op() + " can compute with (" + detail + ")");
    }

    private static boolean speaks(RuntimeException e) {
        return e.getMessage() != null && (e.getClass().getPackageName().startsWith("io.kinema") || e.getMessage().contains(": got "));
    }

    private String where(Check check) {
        return file.name() + " check " + check.number();
    }

    private static String oneLine(String text) {
        return text.replaceAll("\\s+", " ");
    }

    private CheckResult compare(Check check, Expected expected, Answer answer) {
        String metric = expected.metric().label();
        Optional<Values> found = answer.find(expected.name());
        if (found.isEmpty()) {
            return line(check, expected.name(), metric, OptionalDouble.empty(), expected.limit(),
                    "the engine has no result of this name, only " + answer.outputs().keySet(), List.of());
        }
        try {
            Values got = expected.select().of(found.get());
            Values wanted = files.values(expected.at());
            if (!sameShape(got, wanted)) {
                return line(check, expected.name(), metric, OptionalDouble.empty(), expected.limit(), "got shape " + got.shape()
                        + ", expected " + wanted.shape(), List.of());
            }
            return line(check, expected.name(), metric, OptionalDouble.of(expected.metric().measure(got, wanted)), expected.limit(), "", List.of());
        } catch (IndexOutOfBoundsException e) {
            return line(check, expected.name(), metric, OptionalDouble.empty(), expected.limit(), "the selection is outside "
                    + found.get().shape(), List.of());
        }
    }

    private List<CheckResult> compareValue(Check check, Operations component, Answer answer) {
        if (answer.value().isEmpty()) {
            return List.of(line(check, "value", "exact", OptionalDouble.empty(), 0, "the engine has no plain value", List.of()));
        }
        JsonNode expected = component.expectedValue(file, check);
        ValueComparison comparison = ValueComparison.of(answer.value().get(), expected);
        List<CheckResult> results = new ArrayList<>();
        results.add(line(check, "value", "exact", OptionalDouble.of(comparison.different()), 0, comparison.first(), List.of()));
        comparison.worstMean().ifPresent(worst ->
                results.add(line(check, "value means", "abs", OptionalDouble.of(worst), ValueComparison.MEAN_LIMIT, "", List.of())));
        return results;
    }

    /** In the order the engine computed them, so that the first wrong one is where the trouble begins. */
    private List<StageResult> compareStages(Check check, StageRecorder stages) {
        List<StageResult> results = new ArrayList<>();
        if (!stages.active()) {
            return results;
        }
        SequencedSet<String> order = stages.order();
        double limit = file.root().path("tolerance").path("intermediates_rel_l2").asDouble(check.outputs().stream()
                .filter(o -> o.metric() == Metric.REL_L2).mapToDouble(Expected::limit).min().orElse(STAGE_LIMIT));
        order.forEach(name -> results.add(compareStage(name, check.stages().get(name), stages.find(name).orElseThrow(), limit)));
        check.stages().keySet().stream().filter(n -> !order.contains(n))
                .forEach(n -> results.add(new StageResult(n, OptionalDouble.empty(), limit, "the engine did not report it")));
        return results;
    }

    private StageResult compareStage(String name, String at, Values got, double limit) {
        Values wanted = files.values(at);
        if (got.count() != wanted.count()) {
            return new StageResult(name, OptionalDouble.empty(), limit, "got shape " + got.shape() + ", expected " + wanted.shape());
        }
        boolean floating = wanted.dtype().floating();
        Metric metric = floating ? Metric.REL_L2 : Metric.EXACT;
        return new StageResult(name, OptionalDouble.of(metric.measure(got, wanted)), floating ? limit : 0, "");
    }

    private CheckResult line(Check check, String output, String metric, OptionalDouble measured, double limit, String note, List<StageResult> stages) {
        boolean ok = measured.isPresent() && measured.getAsDouble() <= limit;
        Optional<String> precision = check.precision().map(stated -> run.options().precision().map(p -> p.label() + " for " + stated).orElse(stated));
        return new CheckResult(file.name(), check.number(), check.label(), precision, output, metric, measured, limit, ok, note, stages);
    }

    private static List<CheckResult> withStages(List<CheckResult> results, List<StageResult> stages) {
        if (stages.isEmpty() || results.isEmpty()) {
            return results;
        }
        CheckResult first = results.getFirst();
        results.set(0, new CheckResult(first.caseName(), first.check(), first.label(), first.precision(), first.output(), first.metric(),
                first.measured(), first.limit(), first.ok(), first.note(), stages));
        return results;
    }

    /** Axes of size 1 do not matter: cases keep the reference's batch axis, which an engine need not have. */
    private static boolean sameShape(Values got, Values wanted) {
        return Arrays.equals(squeezed(got.shape()), squeezed(wanted.shape()));
    }

    private static long[] squeezed(Shape shape) {
        return Arrays.stream(shape.toArray()).filter(d -> d != 1).toArray();
    }
}
