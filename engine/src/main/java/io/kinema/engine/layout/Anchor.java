package io.kinema.engine.layout;

/** The end of the clip at which a keyframe condition sits. */
public enum Anchor {
    /** At the rotary time of the first generated latent frame. */
    FIRST("first"),
    /** One pixel frame (5/3) before the rotary time at which the generated frames end. */
    LAST("last");

    private final String label;

    Anchor(String label) {
        this.label = label;
    }

    /** The name in requests, run records and golden cases. */
    public String label() {
        return label;
    }
}
