package io.kinema.engine;

import java.util.Arrays;
import java.util.Optional;

/** In which order a request's noise is drawn from its seed. Engines differ here, so it is a named choice. */
public enum NoiseScheme {
    /** One generator: each visual condition in packed order, then the video, then the sound. */
    DIFFUSERS("diffusers"),
    /** A fresh generator with the same seed for the video, for the sound and for each visual condition. */
    ONECAT("onecat");

    private final String label;

    NoiseScheme(String label) {
        this.label = label;
    }

    /** The name on the command line and in run records. */
    public String label() {
        return label;
    }

    /** The scheme with this label, or empty. */
    public static Optional<NoiseScheme> labelled(String label) {
        return Arrays.stream(values()).filter(s -> s.label.equals(label)).findFirst();
    }
}
