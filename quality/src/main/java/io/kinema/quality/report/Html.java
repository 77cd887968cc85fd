package io.kinema.quality.report;

import io.kinema.media.image.PngWriter;
import io.kinema.media.image.RgbImage;
import java.util.Base64;
import java.util.Locale;

/** Text, numbers and pictures as HTML. */
final class Html {
    private Html() {
    }

    /** Text with nothing that HTML would read as its own, in content and in quoted attributes; control characters are blanked. */
    static String escape(String text) {
        StringBuilder out = new StringBuilder(text.length() + 16);
        text.codePoints().forEach(c -> {
            switch (c) {
                case '&' -> out.append("&amp;");
                case '<' -> out.append("&lt;");
                case '>' -> out.append("&gt;");
                case '"' -> out.append("&quot;");
                case '\'' -> out.append("&#39;");
                default -> out.appendCodePoint(Character.isISOControl(c) ? ' ' : c);
            }
        });
        return out.toString();
    }

    /** A PNG picture inside the page. */
    static String picture(RgbImage image, String alternative) {
        return "<img width=\"" + image.width() + "\" height=\"" + image.height() + "\" alt=\"" + escape(alternative) + "\" src=\"data:image/png;base64,"
                + Base64.getEncoder().encodeToString(PngWriter.encode(image)) + "\">";
    }

    /** A coordinate with one decimal, no needless zero. */
    static String coordinate(double value) {
        String text = String.format(Locale.ROOT, "%.1f", value);
        return text.endsWith(".0") ? text.substring(0, text.length() - 2) : text;
    }
}
