package io.kinema.compute.testing;

import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/** What two backends made of the same inputs, by operator: how often, and the worst of them. Used by one thread. */
final class OperatorDifferences {
    /**
     * @param calls   that were compared
     * @param worst   largest relative L2
     * @param squares sum of the squared relative L2, of which the root mean is told
     * @param tensor  of the worst call
     */
    record Line(long calls, double worst, double squares, String tensor) {
        Line plus(Line more) {
            boolean keep = Double.isNaN(worst) || worst >= more.worst;
            return new Line(calls + more.calls, keep ? worst : more.worst, squares + more.squares, keep ? tensor : more.tensor);
        }

        double rootMeanSquare() {
            return Math.sqrt(squares / calls);
        }
    }

    private final Map<String, Line> lines = new TreeMap<>();

    /** @param operator with its types, {@code tensor} which call of it */
    void add(String operator, double relativeL2, String tensor) {
        lines.merge(operator, new Line(1, relativeL2, relativeL2 * relativeL2, tensor), Line::plus);
    }

    Map<String, Line> lines() {
        return Map.copyOf(lines);
    }

    /** A table in Markdown, and one line with the worst of all. */
    String table(double limit) {
        StringBuilder text = new StringBuilder("| operator | calls | worst relative L2 | root mean square | worst tensor |\n| --- | --- | --- | --- | --- |\n");
        lines.forEach((operator, l) -> text.append(String.format(Locale.ROOT, "| %s | %d | %.2e | %.2e | %s |%n", operator, l.calls(), l.worst(),
                l.rootMeanSquare(), l.tensor())));
        long within = lines.values().stream().filter(l -> l.worst() <= limit).count();
        Map.Entry<String, Line> worst = lines.entrySet().stream().max((a, b) -> Double.compare(a.getValue().worst(), b.getValue().worst())).orElseThrow();
        return text + String.format(Locale.ROOT, "compared: %d calls, %d of %d operators within %.0e; the worst is %s, %s: %.2e",
                lines.values().stream().mapToLong(Line::calls).sum(), within, lines.size(), limit, worst.getKey(), worst.getValue().tensor(),
                worst.getValue().worst());
    }
}
