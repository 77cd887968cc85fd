package io.kinema.engine.verify;

import io.kinema.compute.Precision;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * How cases are run.
 *
 * @param device    {@code cpu}, or {@code reference} for the scalar oracle
 * @param precision put in place of the precision that a check states; checks that state none are not touched
 * @param threads   compute threads, the machine's cores when empty
 * @param stages    compare the named intermediates too
 */
public record VerifyOptions(String device, Optional<Precision> precision, OptionalInt threads, boolean stages) {
    /** The CPU, with the precisions that the cases state. */
    public static final VerifyOptions DEFAULTS = new VerifyOptions("cpu", Optional.empty(), OptionalInt.empty(), false);
}
