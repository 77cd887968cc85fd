package io.kinema.engine;

/** Hears the progress of a request, on the thread that runs it; it should return quickly and not throw. */
@FunctionalInterface
public interface ProgressListener {
    /** Hears nothing. */
    ProgressListener NONE = event -> {
    };

    void progress(Progress event);
}
