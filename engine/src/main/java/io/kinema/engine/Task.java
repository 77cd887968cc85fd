package io.kinema.engine;

import java.util.Arrays;
import java.util.Optional;

/** What a clip is made from. */
public enum Task {
    /** Text alone. */
    T2VA("t2va"),
    /** Text and a first keyframe, a last one, or both. */
    FL2VA("fl2va"),
    /** Text and references: pictures, videos, sounds. */
    REF2VA("ref2va");

    private final String label;

    Task(String label) {
        this.label = label;
    }

    /** The name on the command line and in run records. */
    public String label() {
        return label;
    }

    /** The task with this label, or empty. */
    public static Optional<Task> labelled(String label) {
        return Arrays.stream(values()).filter(t -> t.label.equals(label)).findFirst();
    }
}
