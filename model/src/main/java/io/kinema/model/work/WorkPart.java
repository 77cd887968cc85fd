package io.kinema.model.work;

import java.util.Locale;

/** The parts of the transformer that work is counted for. */
public enum WorkPart {
    /** The text projection and the token refiner. */
    TEXT,
    /** The time embedding and all AdaLN projections. */
    MODULATION,
    /** The projections of video and audio rows into the packed sequence. */
    INPUT,
    /** The blocks of joint attention. */
    BLOCKS,
    /** The heads that read velocities. */
    HEADS;

    /** The name in run records: {@code modulation}. */
    public String key() {
        return name().toLowerCase(Locale.ROOT);
    }
}
