package io.kinema.quality.report;

import io.kinema.quality.Numbers;
import io.kinema.quality.picture.FrameSeries;
import java.util.Arrays;
import java.util.List;

/** One number of each frame as an SVG line, with the gate as a dashed line. Of many frames, the worst of each few is drawn. */
final class FrameChart {
    private static final int WIDTH = 900;
    private static final int HEIGHT = 150;
    private static final int LEFT = 64;
    private static final int RIGHT = 12;
    private static final int TOP = 12;
    private static final int BOTTOM = 26;
    private static final int MOST_POINTS = 800;

    private final String id;
    private final String title;
    private final FrameSeries series;
    private final double gate;
    private final double bottom;
    private final double top;
    private final double low;
    private final double high;

    /**
     * @param id    unique in the page
     * @param title what is drawn
     * @param gate  where the dashed line is
     * @param most  what is drawn for numbers at or above it, infinity among them
     */
    FrameChart(String id, String title, FrameSeries series, double gate, double most) {
        this.id = id;
        this.title = title;
        this.series = series;
        this.gate = gate;
        double[] finite = Arrays.stream(series.toArray()).filter(Double::isFinite).toArray();
        double largest = Arrays.stream(finite).max().orElse(most);
        this.bottom = Math.min(Arrays.stream(finite).min().orElse(gate), gate);
        this.top = finite.length < series.size() ? most : Math.min(most, Math.max(largest, gate));
        double room = 0.08 * Math.max(1e-6, top - bottom);
        this.low = bottom - room;
        this.high = top + room;
    }

    /** @param marked frames to mark with a line */
    String svg(List<Integer> marked) {
        StringBuilder out = new StringBuilder();
        int worst = series.worst();
        out.append("<svg viewBox=\"0 0 ").append(WIDTH).append(' ').append(HEIGHT).append("\" role=\"img\" aria-labelledby=\"").append(id).append("-t ").append(id).append("-d\">")
                .append("<title id=\"").append(id).append("-t\">").append(Html.escape(title)).append("</title><desc id=\"").append(id).append("-d\">")
                .append("Worst: ").append(Numbers.plain(series.get(worst))).append(" in frame ").append(worst).append(" of ").append(series.size())
                .append("; gate ").append(Numbers.plain(gate)).append(".</desc>");
        text(out, LEFT - 8, y(top) + 4, "end", Numbers.plain(shown(top)));
        text(out, LEFT - 8, y(bottom) + 4, "end", Numbers.plain(shown(bottom)));
        text(out, LEFT, HEIGHT - 6, "start", "frame 0");
        text(out, WIDTH - RIGHT, HEIGHT - 6, "end", "frame " + (series.size() - 1));
        line(out, "axis", LEFT, y(low), WIDTH - RIGHT, y(low));
        line(out, "axis", LEFT, y(high), LEFT, y(low));
        line(out, "gate", LEFT, y(gate), WIDTH - RIGHT, y(gate));
        text(out, WIDTH - RIGHT, y(gate) - 4, "end", "gate " + Numbers.plain(gate));
        marked.forEach(frame -> line(out, "mark", x(frame), TOP, x(frame), y(low)));
        out.append("<polyline class=\"line\" points=\"").append(points()).append("\"/>");
        out.append("<circle class=\"worst\" cx=\"").append(Html.coordinate(x(worst))).append("\" cy=\"").append(Html.coordinate(y(series.get(worst)))).append("\" r=\"4\"/>");
        return out.append("</svg>").toString();
    }

    /** Four significant digits for an axis. */
    private static double shown(double value) {
        double scale = Math.pow(10, 3 - Math.floor(Math.log10(Math.max(1e-9, Math.abs(value)))));
        return Math.rint(value * scale) / scale;
    }

    private String points() {
        int groups = Math.min(series.size(), MOST_POINTS);
        StringBuilder points = new StringBuilder();
        for (int g = 0; g < groups; g++) {
            int from = (int) ((long) g * series.size() / groups);
            int to = (int) ((long) (g + 1) * series.size() / groups);
            int worst = from;
            for (int i = from; i < to; i++) {
                worst = series.get(i) < series.get(worst) ? i : worst;
            }
            points.append(Html.coordinate(x(worst))).append(',').append(Html.coordinate(y(series.get(worst)))).append(' ');
        }
        return points.toString().strip();
    }

    private double x(int frame) {
        return LEFT + (double) (WIDTH - LEFT - RIGHT) * (series.size() < 2 ? 0.5 : (double) frame / (series.size() - 1));
    }

    private double y(double value) {
        double inside = Double.isNaN(value) ? low : Math.clamp(value, low, high);
        return TOP + (HEIGHT - TOP - BOTTOM) * (high - inside) / (high - low);
    }

    private static void line(StringBuilder out, String kind, double x1, double y1, double x2, double y2) {
        out.append("<line class=\"").append(kind).append("\" x1=\"").append(Html.coordinate(x1)).append("\" y1=\"").append(Html.coordinate(y1)).append("\" x2=\"")
                .append(Html.coordinate(x2)).append("\" y2=\"").append(Html.coordinate(y2)).append("\"/>");
    }

    private static void text(StringBuilder out, double x, double y, String anchor, String text) {
        out.append("<text x=\"").append(Html.coordinate(x)).append("\" y=\"").append(Html.coordinate(y)).append("\" text-anchor=\"").append(anchor).append("\">")
                .append(Html.escape(text)).append("</text>");
    }
}
