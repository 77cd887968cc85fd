package io.kinema.engine;

import java.nio.file.Path;
import java.util.Objects;

/**
 * Something a ref2va clip should resemble. Order matters: it numbers the labels in the prompt ("Picture 1", "Audio 1")
 * and places the reference on the clip's clock.
 */
public sealed interface Reference {
    /** The file it is read from. */
    Path file();

    /**
     * How the command line and run records call it: {@code image}, {@code video}, {@code video+sound}, {@code audio},
     * {@code latents}, {@code latents+sound}.
     */
    String kind();

    /**
     * A reference as the command line writes it, {@code KIND:FILE}. Everything after the first colon is the file's name, which
     * may hold colons and blanks itself.
     *
     * @throws BadRequestException when there is no kind, an unknown one, or no file
     */
    static Reference parse(String text) {
        int colon = text.indexOf(':');
        String kind = colon < 0 ? "" : text.substring(0, colon);
        String name = text.substring(colon + 1);
        if (colon < 0 || name.isEmpty()) {
            throw new BadRequestException("references", "'" + text + "'", KINDS);
        }
        Path file;
        try {
            file = Path.of(name);
        } catch (java.nio.file.InvalidPathException e) {
            throw new BadRequestException("references", "'" + text + "'", "expected a file name after the colon (" + e.getReason() + ")");
        }
        return switch (kind) {
            case "image" -> new Image(file);
            case "video" -> new Video(file, false);
            case "video+sound" -> new Video(file, true);
            case "audio" -> new Audio(file);
            case "latents" -> new Latents(file, false);
            case "latents+sound" -> new Latents(file, true);
            default -> throw new BadRequestException("references", "'" + text + "'", KINDS);
        };
    }

    /** What {@link #parse} expects. */
    String KINDS = "expected image:FILE, video:FILE, video+sound:FILE, audio:FILE, latents:FILE or latents+sound:FILE";

    /** A picture: a subject, a style, a place. */
    record Image(Path file) implements Reference {
        public Image {
            Objects.requireNonNull(file, "file");
        }

        @Override
        public String kind() {
            return "image";
        }
    }

    /**
     * A video: motion, camera.
     *
     * @param sound also condition on its soundtrack, which then takes the next audio number
     */
    record Video(Path file, boolean sound) implements Reference {
        public Video {
            Objects.requireNonNull(file, "file");
        }

        @Override
        public String kind() {
            return sound ? "video+sound" : "video";
        }
    }

    /** A sound: a voice, a melody. It needs a picture or a video beside it. */
    record Audio(Path file) implements Reference {
        public Audio {
            Objects.requireNonNull(file, "file");
        }

        @Override
        public String kind() {
            return "audio";
        }
    }

    /**
     * The latents of an earlier clip of the same model, as {@link Clip#saveLatents} wrote them. They condition the transformer as
     * the latents of a reference video do, value for value: neither an MP4 file nor the video encoder stands between. The text
     * encoder sees the frames that they decode to. Like a video, they count against the three videos, and are cut to the clip's
     * length.
     *
     * @param sound also condition on the clip's sound latents, which then take the next audio number
     */
    record Latents(Path file, boolean sound) implements Reference {
        public Latents {
            Objects.requireNonNull(file, "file");
        }

        @Override
        public String kind() {
            return sound ? "latents+sound" : "latents";
        }
    }
}
