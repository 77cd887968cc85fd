package io.kinema.jobs;

import java.util.Arrays;
import java.util.Optional;

/** The files that one output of a job consists of. */
public enum OutputFile {
    /** The clip: H.264, AAC. */
    VIDEO("clip.mp4", "video/mp4"),
    /** Its run record. */
    RECORD("clip.json", "application/json"),
    /** One of its frames, from its middle. */
    THUMBNAIL("thumbnail.png", "image/png"),
    /** Up to 16 frames at even distances, in rows of four, each at most 320 pixels wide. */
    SPRITESHEET("spritesheet.png", "image/png"),
    /** Its final latents, as a later request's reference takes them. */
    LATENTS("latents.safetensors", "application/octet-stream");

    private final String fileName;
    private final String mediaType;

    OutputFile(String fileName, String mediaType) {
        this.fileName = fileName;
        this.mediaType = mediaType;
    }

    /** The last part of its storage key. */
    public String fileName() {
        return fileName;
    }

    /** For a {@code Content-Type}. */
    public String mediaType() {
        return mediaType;
    }

    /** The kind with this file name, or empty. */
    public static Optional<OutputFile> named(String fileName) {
        return Arrays.stream(values()).filter(f -> f.fileName.equals(fileName)).findFirst();
    }
}
