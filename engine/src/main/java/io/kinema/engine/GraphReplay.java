package io.kinema.engine;

import java.util.Arrays;
import java.util.Optional;

/** Whether evaluations after the first are recorded and replayed where a device can, which gives the same bits. */
public enum GraphReplay {
    /** Where the device can record them; else they are enqueued operation by operation. */
    ON("on"),
    /** Every evaluation is enqueued operation by operation. */
    OFF("off");

    private final String label;

    GraphReplay(String label) {
        this.label = label;
    }

    /** The name on the command line. */
    public String label() {
        return label;
    }

    /** The choice with this command-line name, or empty. */
    public static Optional<GraphReplay> labelled(String label) {
        return Arrays.stream(values()).filter(r -> r.label.equals(label)).findFirst();
    }
}
