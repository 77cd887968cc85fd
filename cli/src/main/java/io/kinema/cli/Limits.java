package io.kinema.cli;

import io.kinema.engine.BadRequestException;

/** Ranges of the numbers that measuring commands take. */
final class Limits {
    /** Most rows of one kind: thirty times what the released model takes. */
    static final int ROWS = 1 << 20;
    /** Most values of random latents: forty times those of the released model's longest clip. */
    static final long LATENT_VALUES = 1L << 27;
    static final int RUNS = 1000;

    private Limits() {
    }

    /** @return the value. @throws BadRequestException when it is out of range */
    static int within(String field, int value, int least, int most) {
        if (value < least || value > most) {
            throw new BadRequestException(field, "" + value, "expected " + least + " to " + most);
        }
        return value;
    }
}
