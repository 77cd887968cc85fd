package io.kinema.quality.report;

import io.kinema.quality.GateLine;
import io.kinema.quality.Numbers;
import io.kinema.quality.Verdict;
import io.kinema.quality.compare.Comparison;
import java.util.List;

/** The head of a page: what was compared, the verdict, the gates, what to look at. */
final class SummarySection {
    private SummarySection() {
    }

    static void append(Comparison comparison, StringBuilder out) {
        Verdict verdict = comparison.verdict();
        out.append("<header>\n<h1>Kinema comparison</h1>\n<dl class=\"sides\"><dt>candidate</dt><dd>").append(Html.escape(comparison.candidate().given().toString()))
                .append("</dd><dt>reference</dt><dd>").append(Html.escape(comparison.reference().given().toString())).append("</dd></dl>\n<p class=\"verdict ")
                .append(verdict.passed() ? "pass" : "fail").append("\">").append(Html.escape(TableReport.verdict(verdict))).append("</p>\n</header>\n");
        gates(verdict, out);
        list("What to look at", "warnings", comparison.warnings(), out);
        findings(comparison, out);
        list("Notes", "soft", comparison.notes(), out);
    }

    private static void gates(Verdict verdict, StringBuilder out) {
        out.append("<section>\n<h2>Gates</h2>\n<div class=\"scroll\"><table><caption>Candidate against reference; the limits are the published ones unless one is marked.</caption>\n")
                .append("<thead><tr><th scope=\"col\">gate</th><th scope=\"col\">got</th><th scope=\"col\">limit</th><th scope=\"col\">verdict</th></tr></thead>\n<tbody>\n");
        for (GateLine line : verdict.lines()) {
            boolean relaxed = line.gate().isRelaxedBy(line.limit());
            out.append("<tr><th scope=\"row\">").append(Html.escape(line.gate().title())).append("</th><td class=\"number\">").append(line.shown()).append("</td><td class=\"number\">")
                    .append(Html.escape(line.gate().describe(line.limit()))).append(relaxed ? " <strong>(relaxed from " + Numbers.plain(line.gate().published()) + ")</strong>" : "")
                    .append("</td><td><span class=\"badge ").append(line.pass() ? "pass\">PASS" : "fail\">FAIL").append("</span></td></tr>\n");
        }
        out.append("</tbody></table></div>\n</section>\n");
    }

    private static void findings(Comparison comparison, StringBuilder out) {
        out.append("<section>\n<h2>Findings</h2>\n<div class=\"scroll\"><table>\n<tbody>\n");
        Findings.of(comparison).forEach(finding -> out.append("<tr><th scope=\"row\">").append(Html.escape(finding.name())).append("</th><td>").append(Html.escape(finding.text()))
                .append("</td></tr>\n"));
        out.append("</tbody></table></div>\n</section>\n");
    }

    private static void list(String heading, String kind, List<String> items, StringBuilder out) {
        if (items.isEmpty()) {
            return;
        }
        out.append("<section>\n<h2>").append(heading).append("</h2>\n<ul class=\"").append(kind).append("\">\n");
        items.forEach(item -> out.append("<li>").append(Html.escape(item)).append("</li>\n"));
        out.append("</ul>\n</section>\n");
    }
}
