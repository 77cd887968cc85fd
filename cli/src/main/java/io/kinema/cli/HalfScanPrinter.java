package io.kinema.cli;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kinema.engine.inspect.HalfScan;
import java.nio.file.Path;
import java.util.Locale;

/** The table and the document of {@code kinema inspect --scan-fp16}. */
final class HalfScanPrinter {
    private static final String LINE = "%14s %10s %10s %10s %12s %12s  %s%n";

    private HalfScanPrinter() {
    }

    static String text(HalfScan.Report report) {
        StringBuilder out = new StringBuilder();
        out.append(String.format(Locale.ROOT, LINE, "values", "overflow", "non-finite", "underflow", "largest", "relative L2", "matrix"));
        report.matrices().forEach(row -> out.append(line(row, row.component() + "  " + row.name() + "  " + row.encoding())));
        HalfScan.Row total = report.total();
        out.append(line(total, String.format(Locale.ROOT, "all %,d matrices", report.matrices().size())));
        long unfit = report.matrices().stream().filter(row -> !row.fits()).count();
        return out.append(unfit == 0 ? "FP16 can hold every value" : unfit + " matrices hold values that FP16 cannot: --precision fp16-fp32res will refuse them").toString();
    }

    static String json(Path path, HalfScan.Report report) {
        ObjectNode root = JsonNodeFactory.instance.objectNode().put("path", path.toString()).put("fits_fp16", report.total().fits());
        root.set("total", row(report.total()));
        ArrayNode matrices = root.putArray("matrices");
        report.matrices().forEach(row -> matrices.add(row(row)));
        return root.toPrettyString();
    }

    private static String line(HalfScan.Row row, String name) {
        return String.format(Locale.ROOT, LINE, String.format(Locale.ROOT, "%,d", row.values()), row.overflow(), row.nonFinite(), row.underflow(),
                String.format(Locale.ROOT, "%.4g", row.largest()), String.format(Locale.ROOT, "%.3e", row.relativeL2()), name);
    }

    private static ObjectNode row(HalfScan.Row row) {
        return JsonNodeFactory.instance.objectNode().put("component", row.component()).put("name", row.name()).put("encoding", row.encoding())
                .put("values", row.values()).put("overflow", row.overflow()).put("non_finite", row.nonFinite()).put("underflow", row.underflow())
                .put("largest", row.largest()).put("relative_l2", row.relativeL2());
    }
}
