package io.kinema.serve.request;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.POJONode;
import io.kinema.jobs.JobId;
import io.kinema.serve.body.Upload;
import io.kinema.serve.problem.Problem;
import io.kinema.serve.problem.ProblemKind;
import io.kinema.serve.request.MediaInput.Role;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Reads the pictures, videos and sounds of a call, in every way in which they may be named. */
final class MediaParser {
    private static final Set<String> ADDRESS_KEYS = Set.of("image_url", "video_url", "audio_url", "url", "uri");
    private static final Map<String, Role> TYPES = Map.of("image", Role.REFERENCE_IMAGE, "video", Role.REFERENCE_VIDEO_SILENT,
            "video+sound", Role.REFERENCE_VIDEO_SOUND, "video-only", Role.REFERENCE_VIDEO_SILENT, "audio", Role.REFERENCE_AUDIO,
            "latents", Role.REFERENCE_LATENTS, "latents+sound", Role.REFERENCE_LATENTS_SOUND);
    private static final String TYPES_SHOWN = "expected image, video, video+sound, video-only, audio, latents or latents+sound";
    private static final int MOST = 12;

    private final CallFields fields;
    private final List<MediaInput> found = new ArrayList<>();

    private MediaParser(CallFields fields) {
        this.fields = fields;
    }

    /** All of them, in the order of the fields. */
    static List<MediaInput> read(CallFields fields) {
        MediaParser parser = new MediaParser(fields);
        parser.simple(Field.FIRST_IMAGE, Role.FIRST);
        parser.simple(Field.LAST_IMAGE, Role.LAST);
        parser.entries(Field.KEYFRAMES, parser::keyframe);
        parser.entries(Field.CONDITIONS, parser::condition);
        parser.simple(Field.INPUT_REFERENCE, Role.ANY);
        parser.simple(Field.IMAGE_REFERENCE, Role.PICTURE);
        parser.simple(Field.IMAGE, Role.PICTURE);
        parser.simple(Field.VIDEO_REFERENCE, Role.REFERENCE_VIDEO);
        parser.simple(Field.VIDEO, Role.REFERENCE_VIDEO);
        parser.simple(Field.AUDIO_REFERENCE, Role.REFERENCE_AUDIO);
        parser.simple(Field.AUDIO, Role.REFERENCE_AUDIO);
        parser.entries(Field.REFERENCES, parser::reference);
        return List.copyOf(parser.found);
    }

    private interface Entry {
        void read(String name, JsonNode value);
    }

    private void simple(Field field, Role role) {
        boolean path = field == Field.IMAGE || field == Field.VIDEO || field == Field.AUDIO;
        entries(field, (name, value) -> add(name, path ? pathOrFile(name, value) : source(name, value), role));
    }

    /** Each entry of a list, or the one value that stands for a list of one. */
    private void entries(Field field, Entry reader) {
        fields.value(field).ifPresent(value -> {
            if (!value.isArray()) {
                reader.read(fields.name(field), value);
                return;
            }
            for (int i = 0; i < value.size(); i++) {
                reader.read(value.size() == 1 ? fields.name(field) : fields.name(field) + "[" + i + "]", value.get(i));
            }
        });
    }

    private void add(String name, MediaSource source, Role role) {
        if (found.size() == MOST) {
            throw Problem.sentence(ProblemKind.INVALID, "references", "references: got more than " + MOST + " files, expected at most that many");
        }
        found.add(new MediaInput(name, source, role));
    }

    /** {@code {"image_url": ..., "frame_index": 0}}. */
    private void keyframe(String name, JsonNode value) {
        ObjectNode entry = object(name, value);
        requireKeys(name, entry, Set.of("frame_index", "position", "type"));
        add(name, source(name, entry), anchor(name, entry));
    }

    /** {@code {"type": "image", "image_url": ...}}. A video's own sound is used only when asked for, as on the command line. */
    private void reference(String name, JsonNode value) {
        ObjectNode entry = object(name, value);
        requireKeys(name, entry, Set.of("type"));
        Role type = type(name, entry);
        add(name, source(name, entry), type);
    }

    /** MiniMax's {@code {"type": "image", "uri": ..., "role": "keyframe", "frame_index": 0}}. */
    private void condition(String name, JsonNode value) {
        ObjectNode entry = object(name, value);
        requireKeys(name, entry, Set.of("type", "role", "frame_index"));
        Role type = type(name, entry);
        switch (entry.path("role").asText("")) {
            // The servers that these scripts were written for take a video's sound along.
            case "reference" -> add(name, source(name, entry), entry.path("type").asText().equals("video") ? Role.REFERENCE_VIDEO : type);
            case "keyframe" -> {
                if (type != Role.REFERENCE_IMAGE) {
                    throw CallFields.wrong(ProblemKind.INVALID, name + ".type", entry.path("type"), "expected image for a keyframe");
                }
                add(name, source(name, entry), anchor(name, entry));
            }
            default -> throw CallFields.wrong(ProblemKind.INVALID, name + ".role", entry.path("role"), "expected keyframe or reference");
        }
    }

    private static Role type(String name, ObjectNode entry) {
        Role role = TYPES.get(entry.path("type").asText(""));
        if (role == null) {
            throw CallFields.wrong(ProblemKind.INVALID, name + ".type", entry.path("type"), TYPES_SHOWN);
        }
        return role;
    }

    private static Role anchor(String name, ObjectNode entry) {
        JsonNode position = entry.path("position");
        JsonNode index = entry.path("frame_index");
        if (position.isMissingNode()) {
            return index.isMissingNode() || index.isNull() ? Role.FIRST : anchor(name + ".frame_index", index);
        }
        return switch (position.asText("")) {
            case "first" -> Role.FIRST;
            case "last" -> Role.LAST;
            default -> throw CallFields.wrong(ProblemKind.INVALID, name + ".position", position, "expected first or last");
        };
    }

    /** Where the clip's first frame is 0 and its last -1. */
    static Role anchor(String name, JsonNode index) {
        if (index.isIntegralNumber() && index.canConvertToInt() && (index.intValue() == 0 || index.intValue() == -1)) {
            return index.intValue() == 0 ? Role.FIRST : Role.LAST;
        }
        throw CallFields.wrong(ProblemKind.INVALID, name, index, "expected 0 for the first frame or -1 for the last");
    }

    private static ObjectNode object(String name, JsonNode value) {
        if (value instanceof ObjectNode entry) {
            return entry;
        }
        throw CallFields.wrong(ProblemKind.INVALID, name, value, "expected an object");
    }

    private static void requireKeys(String name, ObjectNode entry, Set<String> allowed) {
        entry.fieldNames().forEachRemaining(key -> {
            if (!allowed.contains(key) && !ADDRESS_KEYS.contains(key) && !key.equals("video_id") && !key.equals("output_index") && !key.equals("path")) {
                throw Problem.invalid(name + "." + Problem.printable(key, 40), "an unknown field", "expected "
                        + String.join(", ", new java.util.TreeSet<>(allowed)) + ", one of image_url, video_url, audio_url, url, uri, path, or video_id");
            }
        });
    }

    private static MediaSource pathOrFile(String name, JsonNode value) {
        return value.isTextual() ? new MediaSource.ServerFile(value.asText()) : source(name, value);
    }

    /** A file, an address, or an object with exactly one of the keys that hold either. */
    private static MediaSource source(String name, JsonNode value) {
        if (value instanceof POJONode node && node.getPojo() instanceof Upload upload) {
            return new MediaSource.Uploaded(upload);
        }
        if (value.isTextual()) {
            return new MediaSource.Address(value.asText());
        }
        ObjectNode entry = object(name, value);
        List<MediaSource> sources = new ArrayList<>();
        for (String key : ADDRESS_KEYS) {
            if (entry.hasNonNull(key)) {
                sources.add(new MediaSource.Address(address(name + "." + key, entry.get(key))));
            }
        }
        if (entry.hasNonNull("path")) {
            sources.add(new MediaSource.ServerFile(entry.get("path").asText()));
        }
        if (entry.hasNonNull("video_id")) {
            sources.add(earlier(name, entry));
        }
        if (entry.hasNonNull("file_id")) {
            throw Problem.invalid(name + ".file_id", "a file id", "expected image_url: this server keeps no files");
        }
        if (sources.size() != 1) {
            throw Problem.invalid(name, sources.isEmpty() ? "no address" : sources.size() + " addresses",
                    "expected exactly one of image_url, video_url, audio_url, url, uri, path or video_id");
        }
        return sources.getFirst();
    }

    /** Text, or {@code {"url": text}}. */
    private static String address(String name, JsonNode value) {
        JsonNode text = value.isObject() ? value.path("url") : value;
        if (text.isTextual()) {
            return text.asText();
        }
        throw CallFields.wrong(ProblemKind.INVALID, name, value, "expected an address");
    }

    private static MediaSource earlier(String name, ObjectNode entry) {
        JsonNode output = entry.path("output_index");
        if (!output.isMissingNode() && !(output.isIntegralNumber() && output.canConvertToInt() && output.intValue() >= 0)) {
            throw CallFields.wrong(ProblemKind.INVALID, name + ".output_index", output, "expected 0 or more");
        }
        return new MediaSource.Earlier(JobId.parse(entry.get("video_id").asText()).orElseThrow(() -> CallFields.wrong(ProblemKind.INVALID,
                name + ".video_id", entry.get("video_id"), "expected the id of a video of this server")), output.asInt(0));
    }
}
