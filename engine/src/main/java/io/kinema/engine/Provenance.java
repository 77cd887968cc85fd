package io.kinema.engine;

/** Whether an MP4 file says how it was made. */
public enum Provenance {
    /** Seed, model and request stand in the file's metadata. */
    WRITTEN,
    /** The file holds picture and sound only. */
    LEFT_OUT
}
