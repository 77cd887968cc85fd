package io.kinema.engine.layout;

/** The end of the clip at which a keyframe condition sits. */
public enum Anchor {
    /** At the rotary time of the first generated latent frame. */
    FIRST,
    /** One latent frame's shortest span (5/3) before the rotary time at which the generated frames end. */
    LAST
}
