package io.kinema.measure.bench;

import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A bench as a Markdown table that people can paste. */
public final class BenchTable {
    /** Share of the cores in others' use above which a table says that the machine was busy. */
    private static final double BUSY = 0.05;

    private BenchTable() {
    }

    /** Several lines, the last without a line break. */
    public static String of(BenchReport report) {
        List<BenchReport.RunNumbers> measured = report.measured();
        StringBuilder text = new StringBuilder();
        text.append(report.contract().name()).append(System.lineSeparator()).append(System.lineSeparator());
        row(text, "", measured.stream().map(run -> "run " + (measured.indexOf(run) + 1)), "median");
        row(text, "---", measured.stream().map(run -> "---:"), "---:");
        for (int i = 0; i < report.medianTflops().size(); i++) {
            int rank = i;
            row(text, report.medianTflops().size() == 1 ? "useful GFLOP/s" : "useful GFLOP/s, rank " + rank,
                    measured.stream().map(run -> gflops(run.tflops(rank) * 1e12)), gflops(report.medianTflops().get(rank) * 1e12));
        }
        row(text, "denoising, s", measured.stream().map(run -> seconds(run.denoiseSeconds())), seconds(report.medianDenoiseSeconds()));
        row(text, "whole request, s", measured.stream().map(run -> seconds(run.latencySeconds())), seconds(report.medianLatencySeconds()));
        row(text, "peak resident MiB", measured.stream().map(run -> mebibytes(run.hostBytes())), mebibytes(report.hostBytes()));
        if (report.deviceBytes() > 0) {
            row(text, "peak device MiB", measured.stream().map(run -> mebibytes(run.deviceBytes().stream().mapToLong(b -> b).max().orElse(0))),
                    mebibytes(report.deviceBytes()));
        }
        text.append(System.lineSeparator()).append(notes(report));
        return text.toString();
    }

    private static String notes(BenchReport report) {
        String matrix = report.sgemmFlops().isEmpty() ? "" : String.format(Locale.ROOT, "; SGEMM right after %s GFLOP/s, of which %.0f%%",
                gflops(report.sgemmFlops().getAsDouble()), 100 * report.leastTflops() * 1e12 / report.sgemmFlops().getAsDouble());
        String machine = report.environment().facts().path("host").path("processor").asText();
        String way = Stream.of("backend", "precision").map(field -> report.environment().facts().path("execution").path(field).asText())
                .collect(Collectors.joining(", "));
        String busy = report.otherLoad() > BUSY ? String.format(Locale.ROOT, "; **on a busy machine**: others used %.0f%% of its cores", 100 * report.otherLoad()) : "";
        return String.format(Locale.ROOT, "CV %.2f%%%s; %s, %s, %d threads%s; contract %s, environment %s", 100 * report.cv(), matrix, machine, way,
                report.environment().facts().path("execution").path("threads").asInt(), busy, report.contract().sha256().substring(0, 12),
                report.environment().sha256().substring(0, 12));
    }

    private static void row(StringBuilder text, String title, Stream<String> cells, String last) {
        text.append("| ").append(title).append(" | ").append(cells.collect(Collectors.joining(" | "))).append(" | ").append(last).append(" |")
                .append(System.lineSeparator());
    }

    private static String gflops(double flops) {
        return String.format(Locale.ROOT, "%.1f", flops / 1e9);
    }

    private static String seconds(double value) {
        return String.format(Locale.ROOT, "%.3f", value);
    }

    private static String mebibytes(long bytes) {
        return String.format(Locale.ROOT, "%.0f", bytes / (double) (1 << 20));
    }
}
