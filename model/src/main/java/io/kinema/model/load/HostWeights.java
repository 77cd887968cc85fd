package io.kinema.model.load;

import java.util.Optional;

/** What host memory weights are read from, by the processor or on their way to a device. The same bits either way. */
public enum HostWeights {
    /** The checkpoint's files, mapped: the system reads pages when they are touched and may drop them again. */
    MMAP("mmap"),
    /** Copies in ordinary memory, made once: no later read waits for a disk. */
    PAGEABLE("pageable"),
    /** Copies in page-locked memory, from which a device copies at its full rate; only where there is a device. */
    PINNED("pinned");

    private final String label;

    HostWeights(String label) {
        this.label = label;
    }

    /** The name on the command line. */
    public String label() {
        return label;
    }

    /** The one with this command-line name, or empty. */
    public static Optional<HostWeights> labelled(String label) {
        for (HostWeights value : values()) {
            if (value.label.equals(label)) {
                return Optional.of(value);
            }
        }
        return Optional.empty();
    }
}
