package io.kinema.model.load;

import java.util.Optional;

/** Where a network's repeated blocks live between uses. The same bits either way. */
public enum WeightResidency {
    /** All blocks on the device as long as the network is open. */
    COMPONENT("component"),
    /** One block at a time on the device, read from the host each time it is needed. */
    LAYER("layer");

    private final String label;

    WeightResidency(String label) {
        this.label = label;
    }

    /** The name on the command line. */
    public String label() {
        return label;
    }

    /** The residency with this command-line name, or empty. */
    public static Optional<WeightResidency> labelled(String label) {
        return label.equals(COMPONENT.label) ? Optional.of(COMPONENT) : label.equals(LAYER.label) ? Optional.of(LAYER) : Optional.empty();
    }
}
