package io.kinema.engine;

import java.nio.file.Path;
import java.util.Objects;
import java.util.Optional;

/**
 * Asks a request to save its sampler's state every few steps, and to begin where an earlier attempt at the same request stopped.
 * Going on from a saved step gives the same bits as never having stopped.
 *
 * <p>The file belongs to one request on one model: what another request, model, version, precision, weight layout, backend or number of ranks
 * wrote is left aside, and so is a damaged one. It holds one output's state and is replaced as a whole.
 *
 * @param file        read once at the beginning when it is there; its folder exists
 * @param every       steps from one saving to the next, at least 1; the last step is always saved
 * @param firstOutput outputs before this one are finished and are not made again, 0 to outputs - 1
 * @param listener    hears of it
 */
public record StepSaving(Path file, int every, int firstOutput, Listener listener) {
    /**
     * A tensor of the file, once two steps are known: FP32 (channels, height, width), the middle latent frame of the clip that the loop is
     * heading for. It is there to be looked at; nothing goes on from it.
     */
    public static final String ESTIMATE = "estimate";

    /** Hears what is saved and restored, on the thread that runs the request. */
    public interface Listener {
        /** The loop of this output goes on after this many steps. */
        void restored(int output, int step, int steps);

        /** The state after this many steps is on the disk. */
        void saved(int output, int step, int steps);
    }

    public StepSaving {
        Objects.requireNonNull(file, "file");
        Objects.requireNonNull(listener, "listener");
        if (every < 1 || firstOutput < 0) {
            throw new BadRequestException("stepSaving", "every " + every + ", first output " + firstOutput, "expected at least 1 and at least 0");
        }
    }

    /** Which output to begin with. */
    static int firstOutput(Optional<StepSaving> saving) {
        return saving.map(StepSaving::firstOutput).orElse(0);
    }
}
