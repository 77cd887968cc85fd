package io.kinema.cli;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kinema.compute.collective.RowReduction;
import io.kinema.engine.GenerateRequest;
import io.kinema.engine.H3Planner;
import io.kinema.engine.forecast.ResidualForecast;
import io.kinema.engine.forecast.RunPlan;
import io.kinema.engine.plan.ResolvedAdapter;
import io.kinema.engine.plan.ResolvedRequest;
import io.kinema.engine.record.UsefulWork;
import io.kinema.measure.qualify.RouteChoice;
import java.time.Duration;
import java.util.List;
import java.util.Locale;

/** Makes a plan and prints it, for {@code kinema plan} and {@code kinema generate --dry-run}. */
final class PlanPrinter {
    private final Terminal terminal;
    private final boolean json;
    private final StringBuilder text = new StringBuilder();

    PlanPrinter(Terminal terminal, boolean json) {
        this.terminal = terminal;
        this.json = json;
    }

    /** Checks the request, and the outputs where some are named; then prints. */
    int print(String prompt, OutputOptions output, RequestOptions request, ExecutionOptions execution) {
        GenerateRequest wanted = request.request(prompt);
        if (output.named()) {
            output.files(wanted, execution.engine());
        }
        RouteChoice route = execution.route(wanted);
        RunPlan plan = H3Planner.plan(route.options(), wanted, MachineRates.read());
        terminal.print(json ? json(plan, route).toPrettyString() : text(plan, route));
        return ExitCode.DONE;
    }

    private static JsonNode json(RunPlan plan, RouteChoice route) {
        ObjectNode node = (ObjectNode) plan.toJson();
        if (!route.reasons().isEmpty()) {
            ObjectNode chosen = node.putObject("route").put("qualified", route.qualified());
            ArrayNode reasons = chosen.putArray("reasons");
            route.reasons().forEach(reasons::add);
        }
        return node;
    }

    private String text(RunPlan plan, RouteChoice route) {
        ResolvedRequest r = plan.request();
        line("task", "%s with %s (%s, %s), %s on %s, %d %s", r.task().label(), plan.model(), plan.transformer(), bytes(plan.weightBytes()),
                plan.execution().precision(), plan.execution().backend(), plan.execution().threads(), plan.execution().threads() == 1 ? "thread" : "threads");
        line("weights", "transformer in %s", String.join(", ", plan.encodings()));
        line("picture", "%dx%d, %d frames at 24 a second, %.3f s", r.width(), r.height(), r.frames(), r.seconds());
        line("steps", "%d model evaluations, flow shift %s, audio flow shift %s, noise %s", r.steps(), number(r.flowShift()),
                number(r.audioFlowShift()), r.noiseScheme().label());
        line("seed", r.outputs() == 1 ? "%d" : "%d to %d, one for each of %d clips", r.seed(), r.seed() + r.outputs() - 1, r.outputs());
        String heading = r.task() == io.kinema.engine.Task.REF2VA ? "references" : "keyframes";
        for (RunPlan.Condition condition : plan.conditions()) {
            line(heading, "%s: %s, %s", String.join(" and ", condition.labels()), condition.role(), condition.file());
            heading = "";
        }
        heading = "adapters";
        for (ResolvedAdapter adapter : r.adapters()) {
            line(heading, "%s at scale %s: recognised as %s by %s, rank %d on %d modules%s", adapter.use().name(), number(adapter.use().scale()),
                    adapter.recognition().artefact(), adapter.recognition().by(), adapter.rank(), adapter.modules(),
                    adapter.contract().isPresent() ? ", with a sampling contract that steps and shifts follow" : "");
            heading = "";
        }
        rows(plan.rows());
        plan.residual().filter(rows -> rows.shares().ranks() > 1).ifPresent(this::residual);
        line("work", "%d evaluations, %s useful", plan.evaluations(), flops(plan.usefulFlops()));
        memory(plan);
        residency(plan);
        time(plan);
        heading = "route";
        for (String reason : route.reasons()) {
            line(heading, "%s", reason);
            heading = "";
        }
        heading = "chosen";
        for (String note : r.notes()) {
            line(heading, "%s", note);
            heading = "";
        }
        return text.toString().stripTrailing();
    }

    private void residual(ResidualForecast rows) {
        String how = rows.reduction() == RowReduction.Mode.PEER ? "ranks that own them, with " + bytes(rows.bufferBytes()) + " of buffers on each" : "all-reduce";
        line("residual", "%d ranks with %d rows at most, added up by the %s%s", rows.shares().ranks(), rows.shares().each(), how,
                rows.nativeBecause().map(reason -> " (" + reason + ")").orElse(""));
    }

    private void rows(UsefulWork.Rows rows) {
        line("rows", "%,d: %,d text, %,d video (%,d conditions), %,d sound (%,d conditions)", (long) rows.text() + rows.video() + rows.audio(),
                rows.text(), rows.video(), rows.video() - rows.generatedVideo(), rows.audio(), rows.audio() - rows.generatedAudio());
    }

    private void memory(RunPlan plan) {
        line("memory", "%s at most on %s", bytes(plan.peakBytes()), plan.execution().device());
        plan.memory().forEach(m -> line("", "%-25s %s: weights %s, intermediates %s, process and frames %s", m.stage().label(), bytes(m.bytes()),
                bytes(m.weights()), bytes(m.scratch()), bytes(m.heap())));
    }

    private void residency(RunPlan plan) {
        RunPlan.Residency chosen = plan.residency();
        line("residency", "weight offload %s, host weights %s", chosen.label(), chosen.host().label());
        plan.policies().forEach(policy -> line("", "%-25s %s", "offload " + policy.label(), policy.deviceBytes() == 0 ? bytes(policy.hostBytes()) + " without mapped files"
                : bytes(policy.deviceBytes()) + " on the device, " + bytes(policy.hostBytes()) + " on the host without mapped files"));
    }

    private void time(RunPlan plan) {
        line("time", "about %s, %s", seconds(plan.seconds()), plan.certainty());
        plan.probed().ifPresent(rate -> line("", "matrix products reach %.0f GFLOP/s here", rate / 1e9));
        plan.time().forEach(t -> line("", "%-25s %s", t.stage().label(), t.seconds().isEmpty() ? "not measured yet"
                : t.measurements() < 2 ? seconds(t.seconds().getAsDouble())
                : seconds(t.seconds().getAsDouble()) + " (" + seconds(t.low()) + " to " + seconds(t.high()) + ")"));
    }

    private void line(String heading, String format, Object... values) {
        text.append(String.format(Locale.ROOT, "%-11s", heading)).append(String.format(Locale.ROOT, format, values)).append(System.lineSeparator());
    }

    private static String number(double value) {
        return value == Math.rint(value) ? Long.toString((long) value) : Double.toString(value);
    }

    private static String flops(double count) {
        return count < 1e13 ? String.format(Locale.ROOT, "%.1f GFLOP", count / 1e9)
                : count < 1e16 ? String.format(Locale.ROOT, "%.1f TFLOP", count / 1e12) : String.format(Locale.ROOT, "%.1f PFLOP", count / 1e15);
    }

    private static String seconds(double value) {
        double hours = value / 3600;
        if (hours >= 2) {
            return hours < 48 ? String.format(Locale.ROOT, "%.1f hours", hours) : String.format(Locale.ROOT, "%.0f days", hours / 24);
        }
        return ProgressPrinter.seconds(Duration.ofMillis(Math.round(value * 1000)));
    }

    private static String bytes(long count) {
        List<String> units = List.of("bytes", "KiB", "MiB", "GiB", "TiB");
        double value = count;
        int unit = 0;
        while (value >= 1024 && unit < units.size() - 1) {
            value /= 1024;
            unit++;
        }
        return String.format(Locale.ROOT, unit < 2 ? "%.0f %s" : "%.1f %s", value, units.get(unit));
    }
}
