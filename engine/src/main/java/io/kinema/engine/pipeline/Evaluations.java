package io.kinema.engine.pipeline;

import io.kinema.compute.Tensor;
import io.kinema.engine.GraphReplay;
import io.kinema.model.dit.DitSequence;
import io.kinema.model.dit.Modulation;
import io.kinema.model.dit.RecordedStep;
import io.kinema.model.dit.Transformer;
import io.kinema.model.dit.Velocities;
import java.util.Optional;

/**
 * Owns the recording of a sequence's evaluation, once there is one, until it is closed; closing twice is harmless. The first
 * evaluation is enqueued operation by operation, which lets the device make its plans; the second is recorded where the device
 * can, and that one and all later ones are replayed, with the same bits. The sequence must outlive it.
 */
final class Evaluations implements AutoCloseable {
    private final Transformer dit;
    private final DitSequence sequence;
    private final Modulation modulation;
    private final Tensor video;
    private final Tensor audio;
    private final Velocities out;
    private boolean mayRecord;
    private boolean plansMade;
    private Optional<RecordedStep> recorded = Optional.empty();

    /**
     * @param video rows on the device, filled before each evaluation
     * @param audio likewise
     * @param out   written by each evaluation
     */
    Evaluations(Transformer dit, DitSequence sequence, Modulation modulation, Tensor video, Tensor audio, Velocities out, GraphReplay replay) {
        this.dit = dit;
        this.sequence = sequence;
        this.modulation = modulation;
        this.video = video;
        this.audio = audio;
        this.out = out;
        this.mayRecord = replay == GraphReplay.ON;
    }

    /** Enqueues one evaluation. @return true when it is a replay */
    boolean enqueue(float[] rowTimesteps) {
        if (plansMade && mayRecord) {
            recorded = dit.record(sequence, modulation, video, audio, out);
            mayRecord = false;
        }
        recorded.ifPresentOrElse(step -> step.replay(rowTimesteps), () -> dit.forward(sequence, modulation, rowTimesteps, video, audio, out));
        plansMade = true;
        return recorded.isPresent();
    }

    @Override
    public void close() {
        recorded.ifPresent(RecordedStep::close);
        recorded = Optional.empty();
        mayRecord = false;
    }
}
