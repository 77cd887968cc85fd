package io.kinema.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kinema.engine.record.ProvenanceTags;
import io.kinema.media.container.HeaderReader;
import io.kinema.media.container.MediaHeader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/** What {@code kinema inspect} says of a video or sound file: its streams, and how Kinema made it where it did. */
final class ClipInspection {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String REQUEST = "request";

    private ClipInspection() {
    }

    /** Whether a file is one of these, by its first bytes. */
    static boolean knows(Path file) {
        return Files.isRegularFile(file) && HeaderReader.knows(file);
    }

    /** @throws io.kinema.media.BadMediaException when the file is damaged */
    static String of(Path file, boolean json) {
        MediaHeader header = HeaderReader.read(file);
        return json ? document(header).toPrettyString() : text(header);
    }

    /** The tags that Kinema wrote, without their prefix; none in a foreign file. */
    private static SortedMap<String, String> provenance(MediaHeader header) {
        SortedMap<String, String> tags = new TreeMap<>();
        header.tags().forEach((key, value) -> {
            if (key.startsWith(ProvenanceTags.PREFIX)) {
                tags.put(key.substring(ProvenanceTags.PREFIX.length()), value);
            }
        });
        return tags;
    }

    private static String text(MediaHeader header) {
        StringBuilder out = new StringBuilder();
        line(out, "%s: %s, %,d bytes, %.3f s", header.file(), header.container(), header.bytes(), header.seconds());
        header.video().ifPresent(v -> line(out, "  video  %s%s, %dx%d, %s frames a second, %d frames, %.3f s", v.codec(),
                v.pixelFormat().isEmpty() ? "" : " " + v.pixelFormat(), v.width(), v.height(), rate(v.frameRate()), v.frames(), v.seconds()));
        header.sound().ifPresent(s -> line(out, "  sound  %s, %d Hz, %d %s, %.3f s", s.codec(), s.sampleRate(), s.channels(),
                s.channels() == 1 ? "channel" : "channels", s.seconds()));
        Map<String, String> provenance = provenance(header);
        if (provenance.isEmpty()) {
            line(out, "no provenance of Kinema's");
        } else {
            line(out, "made by Kinema:");
            provenance.forEach((key, value) -> line(out, "  %s  %s", key, key.equals(REQUEST) ? request(value).toString() : printable(value)));
        }
        return out.toString().stripTrailing();
    }

    private static ObjectNode document(MediaHeader header) {
        ObjectNode root = JsonNodeFactory.instance.objectNode().put("path", header.file().toString()).put("container", header.container())
                .put("bytes", header.bytes()).put("seconds", header.seconds());
        header.video().ifPresent(v -> root.putObject("video").put("codec", v.codec()).put("pixel_format", v.pixelFormat()).put("width", v.width())
                .put("height", v.height()).put("frames_per_second", v.frameRate()).put("frames", v.frames()).put("seconds", v.seconds()));
        header.sound().ifPresent(s -> root.putObject("sound").put("codec", s.codec()).put("sample_rate", s.sampleRate()).put("channels", s.channels())
                .put("seconds", s.seconds()));
        ObjectNode tags = root.putObject("tags");
        header.tags().forEach(tags::put);
        Map<String, String> provenance = provenance(header);
        if (!provenance.isEmpty()) {
            ObjectNode node = root.putObject("provenance");
            provenance.forEach((key, value) -> node.set(key, key.equals(REQUEST) ? request(value) : node.textNode(value)));
        }
        return root;
    }

    /** The request as a tree; a text that is no JSON, which anyone may have put there, as it stands. */
    private static JsonNode request(String value) {
        try {
            return JSON.readTree(value);
        } catch (JsonProcessingException foreign) {
            return JsonNodeFactory.instance.textNode(printable(value));
        }
    }

    /** Anyone can write a tag: control characters never reach a terminal. */
    private static String printable(String value) {
        return value.replaceAll("\\p{Cntrl}", " ");
    }

    private static String rate(double fps) {
        return fps == Math.rint(fps) ? Long.toString((long) fps) : String.format(Locale.ROOT, "%.3f", fps);
    }

    private static void line(StringBuilder out, String format, Object... values) {
        out.append(String.format(Locale.ROOT, format, values)).append(System.lineSeparator());
    }
}
