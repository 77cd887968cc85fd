package io.kinema.engine.verify;

import io.kinema.compute.BackendOptions;
import io.kinema.compute.Precision;
import io.kinema.engine.RankOptions;
import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * How cases are run.
 *
 * @param device    {@code cpu}, {@code cuda:N}, or {@code reference} for the scalar oracle
 * @param precision put in place of the precision that a check states; checks that state none are not touched
 * @param threads   compute threads, the machine's cores when empty
 * @param stages    compare the named intermediates too
 * @param model     model folder, in either layout, whose networks are run in place of those that the cases name
 * @param ranks     that share text encoder, transformer and video VAE; a case whose networks cannot be shared out so is a miss that says it
 * @param backend   what a device other than the CPU is told
 */
public record VerifyOptions(String device, Optional<Precision> precision, OptionalInt threads, boolean stages, Optional<Path> model,
                            RankOptions ranks, BackendOptions backend) {
    /** The CPU, with the precisions and the models that the cases state. */
    public static final VerifyOptions DEFAULTS = new VerifyOptions("cpu", Optional.empty(), OptionalInt.empty(), false);

    /** With the models that the cases state. */
    public VerifyOptions(String device, Optional<Precision> precision, OptionalInt threads, boolean stages) {
        this(device, precision, threads, stages, Optional.empty(), RankOptions.DEFAULTS, BackendOptions.DEFAULTS);
    }

    /** The same on another model. */
    public VerifyOptions withModel(Path folder) {
        return new VerifyOptions(device, precision, threads, stages, Optional.of(folder), ranks, backend);
    }

    /** The same on several ranks. */
    public VerifyOptions withRanks(RankOptions several) {
        return new VerifyOptions(device, precision, threads, stages, model, several, backend);
    }
}
