package io.kinema.engine.verify;

import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalDouble;

/**
 * What one expectation of one check came to: one line of {@code kinema verify}.
 *
 * @param caseName  the case
 * @param check     position of the check in the case, from 1; 0 for a case that could not be read
 * @param label     operation, with the check's own name where it has one
 * @param precision precision it ran in, where a model ran
 * @param output    name of the result; {@code value} for plain values, empty for an operation's only result
 * @param metric    how it was compared; {@link #FORMAT} or {@link #FAILED} where nothing could be
 * @param measured  what was measured, empty when nothing could be
 * @param limit     most that is allowed
 * @param ok        measured and within the limit
 * @param note      why it missed or what to know; one line, often empty
 * @param stages    compared intermediates, in the order they were computed; only with the first line of a check
 */
public record CheckResult(String caseName, int check, String label, Optional<String> precision, String output, String metric,
                          OptionalDouble measured, double limit, boolean ok, String note, List<StageResult> stages) {
    /** Stands for a metric where the case or the check is wrong. */
    public static final String FORMAT = "format";
    /** Stands for a metric where the engine could not compute the check. */
    public static final String FAILED = "failed";

    /**
     * One compared intermediate.
     *
     * @param name     as in the case
     * @param measured empty when the engine never reported it or its shape differs
     * @param limit    advice, not part of the verdict
     */
    public record StageResult(String name, OptionalDouble measured, double limit, String note) {
        /** True when it was seen and is within the limit. */
        public boolean ok() {
            return measured.isPresent() && measured.getAsDouble() <= limit;
        }
    }

    public CheckResult {
        stages = List.copyOf(stages);
    }

    /** The first intermediate that differs from the reference, if any were compared. */
    public Optional<StageResult> firstWrongStage() {
        return stages.stream().filter(s -> s.measured().isPresent() && !s.ok()).findFirst();
    }

    /** The miss of a case that could not be read. */
    static CheckResult unreadable(String caseName, String reason) {
        return new CheckResult(caseName, 0, CaseFile.FILE, Optional.empty(), "", FORMAT, OptionalDouble.empty(), 0, false, reason, List.of());
    }

    /** {@code CASE #N OP [PRECISION] OUTPUT: METRIC MEASURED (limit LIMIT) ok|MISS [NOTE]}. */
    public String line() {
        String what = caseName + (check == 0 ? " " : " #" + check + " ") + label + precision.map(p -> " " + p).orElse("") + (output.isEmpty() ? "" : " " + output);
        String value = measured.isPresent() ? number(measured.getAsDouble()) : "-";
        return what + ": " + metric + " " + value + " (limit " + number(limit) + ") " + (ok ? "ok" : "MISS") + (note.isEmpty() ? "" : "  " + note);
    }

    private static String number(double v) {
        return v == Math.rint(v) && Math.abs(v) < 1e9 ? String.format(Locale.ROOT, "%.0f", v) : String.format(Locale.ROOT, "%.3g", v);
    }
}
