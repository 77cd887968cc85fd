package io.kinema.model;

import java.util.EnumSet;
import java.util.Set;

/** The halves of an autoencoder, so that a request without conditions need not load an encoder. */
public enum AutoencoderPart {
    /** Media to latents. */
    ENCODER,
    /** Latents to media. */
    DECODER;

    /** Both halves. */
    public static Set<AutoencoderPart> both() {
        return EnumSet.allOf(AutoencoderPart.class);
    }
}
