package io.kinema.quality.report;

import io.kinema.media.audio.Sound;
import io.kinema.quality.sound.Click;
import java.util.List;
import java.util.Locale;

/** A sound's channels as SVG: from the lowest to the highest sample of each column; clicks are marked. */
final class WaveformChart {
    private static final int WIDTH = 900;
    private static final int STRIP = 70;
    private static final int COLUMNS = 900;

    private WaveformChart() {
    }

    /** @param id unique in the page @param scale magnitude at the edge of a strip */
    static String svg(String id, String title, Sound sound, double scale, List<Click> clicks) {
        int height = STRIP * sound.channelCount();
        StringBuilder out = new StringBuilder("<svg viewBox=\"0 0 ").append(WIDTH).append(' ').append(height).append("\" role=\"img\" aria-labelledby=\"").append(id)
                .append("-t ").append(id).append("-d\"><title id=\"").append(id).append("-t\">").append(Html.escape(title)).append("</title><desc id=\"").append(id).append("-d\">")
                .append(String.format(Locale.ROOT, "%.2f seconds, %d channels one above the other, %d clicks; full height is %.3f of full scale.", sound.seconds(), sound.channelCount(), clicks.size(), scale))
                .append("</desc>");
        for (int c = 0; c < sound.channelCount(); c++) {
            double middle = STRIP * (c + 0.5);
            out.append("<line class=\"axis\" x1=\"0\" x2=\"").append(WIDTH).append("\" y1=\"").append(middle).append("\" y2=\"").append(middle).append("\"/>");
            out.append("<path class=\"wave\" d=\"").append(path(sound.channel(c), middle, scale)).append("\"/>");
        }
        for (Click click : clicks) {
            double x = (double) WIDTH * click.sample() / sound.length();
            out.append("<line class=\"mark\" x1=\"").append(Html.coordinate(x)).append("\" x2=\"").append(Html.coordinate(x)).append("\" y1=\"").append(click.channel() * STRIP + 2)
                    .append("\" y2=\"").append((click.channel() + 1) * STRIP - 2).append("\"/>");
        }
        return out.append("</svg>").toString();
    }

    private static String path(float[] samples, double middle, double scale) {
        StringBuilder out = new StringBuilder();
        int columns = Math.min(COLUMNS, samples.length);
        for (int column = 0; column < columns; column++) {
            float low = Float.POSITIVE_INFINITY;
            float high = Float.NEGATIVE_INFINITY;
            for (int i = (int) ((long) column * samples.length / columns); i < (long) (column + 1) * samples.length / columns; i++) {
                low = Math.min(low, samples[i]);
                high = Math.max(high, samples[i]);
            }
            double x = (column + 0.5) * WIDTH / columns;
            // At least a pixel, so that silence is a line.
            out.append('M').append(Html.coordinate(x)).append(' ').append(Html.coordinate(y(high, middle, scale) - 0.5)).append('V').append(Html.coordinate(y(low, middle, scale) + 0.5));
        }
        return out.toString();
    }

    private static double y(float sample, double middle, double scale) {
        double value = Float.isNaN(sample) ? 0 : Math.clamp(sample / scale, -1, 1);
        return middle - value * (STRIP / 2.0 - 2);
    }
}
