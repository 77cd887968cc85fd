package io.kinema.model.dit;

import io.kinema.compute.Backend;
import io.kinema.compute.Tensor;
import io.kinema.compute.Workspace;
import io.kinema.model.work.Work;

/**
 * Owns a recorded evaluation of a {@link Transformer} and its row indices until it is closed; closing twice is harmless. Replaying it
 * reads the rows that it was recorded with and gives the bits of {@link Transformer#forward}. Made by {@link Transformer#record}.
 */
public final class RecordedStep implements AutoCloseable {
    private final Dit dit;
    private final Backend backend;
    private final Workspace memory;
    private final Backend.Recording recording;
    private final Tensor ada;
    private final Tensor wanted;
    private final DitSequence sequence;
    private final Modulation modulation;
    private final Work evaluation;

    RecordedStep(Dit dit, Backend backend, Workspace memory, Backend.Recording recording, Tensor ada, Tensor wanted, DitSequence sequence,
                 Modulation modulation, Work evaluation) {
        this.dit = dit;
        this.backend = backend;
        this.memory = memory;
        this.recording = recording;
        this.ada = ada;
        this.wanted = wanted;
        this.sequence = sequence;
        this.modulation = modulation;
        this.evaluation = evaluation;
    }

    /**
     * Enqueues one evaluation, which counts as the transformer's work.
     *
     * @param rowTimesteps the model time of every packed row, each among those of the modulation
     * @throws IllegalStateException when the transformer has other adapters in force than the recording
     */
    public void replay(float[] rowTimesteps) {
        dit.requireInForce(sequence, modulation);
        RowTables rows = RowTables.of(sequence.layout(), modulation, rowTimesteps);
        backend.copy(Tensor.ofInts(rows.ada(), rows.ada().length), ada);
        backend.copy(Tensor.ofInts(rows.wantedOutput(), rows.wantedOutput().length), wanted);
        recording.replay();
        dit.replayed(evaluation);
    }

    @Override
    public void close() {
        recording.close();
        memory.close();
    }
}
