package io.kinema.measure.bench;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kinema.measure.telemetry.Sample;
import java.util.function.ToDoubleFunction;

/** Writes a {@link BenchReport} as JSON. Numbers that are not finite become null. */
final class BenchReportJson {
    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;

    private BenchReportJson() {
    }

    static ObjectNode of(BenchReport report) {
        ObjectNode root = NODES.objectNode().put("schema", BenchReport.SCHEMA).put("passed", report.passed());
        root.set("contract", report.contract().toJson());
        root.put("contract_sha256", report.contract().sha256()).put("started", report.environment().started().toString());
        root.set("environment", report.environment().facts());
        root.put("environment_sha256", report.environment().sha256());
        report.rejection().ifPresentOrElse(why -> root.putObject("rejected").put("rule", why.rule().key()).put("reason", why.reason()),
                () -> root.putNull("rejected"));
        ArrayNode runs = root.putArray("runs");
        report.runs().forEach(run -> runs.add(run(run)));
        root.set("result", result(report));
        ArrayNode gates = root.putArray("gates");
        report.gates().forEach(gate -> number(number(gates.addObject().put("name", gate.name()), "limit", gate.limit()), "got", gate.got())
                .put("pass", gate.pass()));
        root.set("telemetry", telemetry(report));
        return root;
    }

    private static ObjectNode run(BenchReport.RunNumbers run) {
        ObjectNode node = NODES.objectNode().put("role", run.warmUp() ? "warm_up" : "measured");
        number(number(node, "latency_seconds", run.latencySeconds()), "denoise_seconds", run.denoiseSeconds());
        node.put("host_bytes", run.hostBytes());
        ArrayNode ranks = node.putArray("ranks");
        for (int i = 0; i < run.usefulFlops().size(); i++) {
            number(ranks.addObject().put("useful_flops", run.usefulFlops().get(i)), "tflops", run.tflops(i)).put("device_bytes", run.deviceBytes().get(i));
        }
        return node;
    }

    private static ObjectNode result(BenchReport report) {
        ObjectNode node = NODES.objectNode();
        ArrayNode ranks = node.putArray("median_tflops");
        report.medianTflops().forEach(ranks::add);
        number(node, "cv", report.cv());
        number(node, "median_denoise_seconds", report.medianDenoiseSeconds());
        number(node, "median_latency_seconds", report.medianLatencySeconds());
        node.put("host_bytes", report.hostBytes()).put("device_bytes", report.deviceBytes());
        report.sgemmFlops().ifPresentOrElse(rate -> number(node, "sgemm_tflops", rate / 1e12), () -> node.putNull("sgemm_tflops"));
        return node;
    }

    private static ObjectNode telemetry(BenchReport report) {
        ObjectNode node = NODES.objectNode().put("samples", report.samples().size());
        number(node, "cpu_mean_mhz", mean(report, Sample::meanMhz));
        number(node, "cpu_least_mhz", report.samples().stream().mapToDouble(Sample::leastMhz).filter(Double::isFinite).min().orElse(Double.NaN));
        number(node, "process_load", mean(report, Sample::processLoad));
        number(node, "other_load", report.otherLoad());
        return number(node, "most_other_load",
                report.samples().stream().mapToDouble(Sample::otherLoad).filter(Double::isFinite).max().orElse(Double.NaN));
    }

    private static double mean(BenchReport report, ToDoubleFunction<Sample> value) {
        return report.samples().stream().mapToDouble(value).filter(Double::isFinite).average().orElse(Double.NaN);
    }

    private static ObjectNode number(ObjectNode node, String name, double value) {
        return Double.isFinite(value) ? node.put(name, value) : node.putNull(name);
    }
}
