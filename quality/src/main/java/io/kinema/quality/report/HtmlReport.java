package io.kinema.quality.report;

import io.kinema.media.file.AtomicFile;
import io.kinema.quality.compare.Comparison;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/**
 * A comparison as one HTML page that needs no other file, no network and no script: gates, pictures side by side with their
 * difference, curves over the frames, waveforms and spectrograms. Light or dark as the reader's system is; every picture has a text.
 */
public final class HtmlReport {
    private static final String STYLE = "report.css";

    private HtmlReport() {
    }

    /**
     * Writes the page; an existing file is replaced, in one step.
     *
     * @param comparison made with {@link io.kinema.quality.compare.ComparisonOptions#withPictures()}, else it has no frames to show
     * @throws io.kinema.media.BadMediaException when the file cannot be written; nothing is left then
     */
    public static void write(Comparison comparison, Path target) {
        try (AtomicFile file = AtomicFile.create(target)) {
            ByteBuffer bytes = ByteBuffer.wrap(page(comparison).getBytes(StandardCharsets.UTF_8));
            while (bytes.hasRemaining()) {
                try {
                    file.channel().write(bytes);
                } catch (IOException e) {
                    throw file.failure(e);
                }
            }
            file.commit();
        }
    }

    /** The page as text. */
    static String page(Comparison comparison) {
        StringBuilder out = new StringBuilder(1 << 20);
        out.append("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n")
                .append("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n")
                .append("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; style-src 'unsafe-inline'\">\n")
                .append("<title>").append(comparison.verdict().passed() ? "PASS" : "FAIL").append(": ").append(Html.escape(name(comparison.candidate().given())))
                .append(" against ").append(Html.escape(name(comparison.reference().given()))).append("</title>\n<style>\n").append(style()).append("</style>\n</head>\n<body>\n<main>\n");
        SummarySection.append(comparison, out);
        comparison.pictures().ifPresent(pictures -> FramesSection.append(pictures, comparison.verdict(), out));
        comparison.sound().ifPresent(sound -> SoundSection.append(sound, out));
        MethodSection.append(comparison, out);
        return out.append("</main>\n</body>\n</html>\n").toString();
    }

    private static String name(Path path) {
        return String.valueOf(path.toAbsolutePath().normalize().getFileName());
    }

    private static String style() {
        try (InputStream in = HtmlReport.class.getResourceAsStream(STYLE)) {
            if (in == null) {
                throw new IllegalStateException("the style of reports is missing from the jar: " + STYLE);
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
