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

    /** How the command line and run records call it: {@code image}, {@code video}, {@code video+sound}, {@code audio}. */
    String kind();

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
}
