package io.kinema.compute.collective;

import java.time.Duration;

/** A rank waited for the others longer than it may. */
public final class RankTimeoutException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    RankTimeoutException(String what, int present, int ranks, Duration most) {
        super("ranks: " + what + " was reached by " + present + " of " + ranks + " ranks within " + most.toMillis() / 1000.0
                + " s, expected all; one of them hangs, or does other work than the rest");
    }
}
