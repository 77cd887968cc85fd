package io.kinema.quality.report;

import io.kinema.quality.GateLine;
import io.kinema.quality.Numbers;
import io.kinema.quality.Verdict;
import io.kinema.quality.compare.Comparison;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** A comparison as a short text: a table that reads as it stands and is Markdown too, and the lines that belong to it. */
public final class TableReport {
    private TableReport() {
    }

    /** The whole text, lines ended by the system's line break but for the last. */
    public static String of(Comparison comparison) {
        List<String> lines = new ArrayList<>();
        lines.add("candidate: " + comparison.candidate().given());
        lines.add("reference: " + comparison.reference().given());
        lines.add("");
        List<List<String>> rows = new ArrayList<>();
        rows.add(List.of("gate", "got", "limit", "verdict"));
        comparison.verdict().lines().forEach(line -> rows.add(row(line)));
        lines.addAll(table(rows));
        lines.add("");
        Findings.of(comparison).forEach(finding -> lines.add(finding.name() + ": " + finding.text()));
        comparison.warnings().forEach(warning -> lines.add("WARNING: " + warning));
        comparison.notes().forEach(note -> lines.add("note: " + note));
        lines.add(verdict(comparison.verdict()));
        return String.join(System.lineSeparator(), lines);
    }

    /** The last line: {@code PASS: 6 of 6 gates}. */
    static String verdict(Verdict verdict) {
        long passed = verdict.lines().stream().filter(GateLine::pass).count();
        String missing = verdict.notMeasured().isEmpty() ? "" : "; not measured: " + verdict.notMeasured().stream().map(gate -> gate.label()).collect(Collectors.joining(", "));
        String relaxed = verdict.relaxed() ? "; RELAXED: a limit is looser than the published one" : "";
        return (verdict.passed() ? "PASS" : "FAIL") + ": " + passed + " of " + verdict.lines().size() + " gates" + missing + relaxed;
    }

    private static List<String> row(GateLine line) {
        boolean relaxed = line.gate().isRelaxedBy(line.limit());
        return List.of(line.gate().label(), line.shown(), line.gate().describe(line.limit()) + (relaxed ? " (relaxed from " + Numbers.plain(line.gate().published()) + ")" : ""),
                line.pass() ? "PASS" : "FAIL");
    }

    private static List<String> table(List<List<String>> rows) {
        int columns = rows.getFirst().size();
        int[] widths = new int[columns];
        for (List<String> row : rows) {
            for (int c = 0; c < columns; c++) {
                widths[c] = Math.max(widths[c], row.get(c).length());
            }
        }
        List<String> lines = new ArrayList<>();
        for (List<String> row : rows) {
            StringBuilder line = new StringBuilder("|");
            for (int c = 0; c < columns; c++) {
                line.append(' ').append(row.get(c)).append(" ".repeat(widths[c] - row.get(c).length())).append(" |");
            }
            lines.add(line.toString());
        }
        StringBuilder rule = new StringBuilder("|");
        for (int width : widths) {
            rule.append(" ").append("-".repeat(width)).append(" |");
        }
        lines.add(1, rule.toString());
        return lines;
    }
}
