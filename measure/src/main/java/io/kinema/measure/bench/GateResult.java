package io.kinema.measure.bench;

import io.kinema.measure.contract.BenchGates;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * One limit of a bench and what was measured against it.
 *
 * @param name  {@code min_tflops}, {@code max_cv}, {@code max_host_bytes}, {@code max_device_bytes}
 * @param limit as stated
 * @param got   as measured; a NaN fails
 */
public record GateResult(String name, double limit, double got, boolean pass) {
    static List<GateResult> of(BenchReport report) {
        BenchGates gates = report.contract().gates();
        List<GateResult> results = new ArrayList<>();
        gates.minTflops().ifPresent(limit -> results.add(new GateResult("min_tflops", limit, report.leastTflops(), report.leastTflops() > limit)));
        results.add(atMost("max_cv", gates.maxCv(), report.cv()));
        gates.maxHostBytes().ifPresent(limit -> results.add(atMost("max_host_bytes", limit, report.hostBytes())));
        gates.maxDeviceBytes().ifPresent(limit -> results.add(atMost("max_device_bytes", limit, report.deviceBytes())));
        return results;
    }

    private static GateResult atMost(String name, double limit, double got) {
        return new GateResult(name, limit, got, got <= limit);
    }

    /** {@code FAIL  max_cv  0.08  (at most 0.05)}. */
    public String text() {
        return (pass ? "PASS  " : "FAIL  ") + name + "  " + number(got) + "  (" + (name.startsWith("min") ? "above " : "at most ") + number(limit) + ")";
    }

    private static String number(double value) {
        return value == Math.rint(value) && Math.abs(value) < 1e15 ? Long.toString((long) value) : String.format(Locale.ROOT, "%.4g", value);
    }
}
