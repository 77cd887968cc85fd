package io.kinema.model.dit;

import io.kinema.compute.Backend;
import io.kinema.compute.Tensor;
import io.kinema.compute.Workspace;

/**
 * Owns a recorded evaluation of a {@link Transformer} and its row indices until it is closed; closing twice is harmless. Replaying it
 * reads the rows that it was recorded with and gives the bits of {@link Transformer#forward}. Made by {@link Transformer#record}.
 */
public final class RecordedStep implements AutoCloseable {
    private final Backend backend;
    private final Workspace memory;
    private final Backend.Recording recording;
    private final Tensor ada;
    private final Tensor wanted;
    private final DitLayout layout;
    private final Modulation modulation;

    RecordedStep(Backend backend, Workspace memory, Backend.Recording recording, Tensor ada, Tensor wanted, DitLayout layout, Modulation modulation) {
        this.backend = backend;
        this.memory = memory;
        this.recording = recording;
        this.ada = ada;
        this.wanted = wanted;
        this.layout = layout;
        this.modulation = modulation;
    }

    /** Enqueues one evaluation. @param rowTimesteps the model time of every packed row, each among those of the modulation */
    public void replay(float[] rowTimesteps) {
        RowTables rows = RowTables.of(layout, modulation, rowTimesteps);
        backend.copy(Tensor.ofInts(rows.ada(), rows.ada().length), ada);
        backend.copy(Tensor.ofInts(rows.wantedOutput(), rows.wantedOutput().length), wanted);
        recording.replay();
    }

    @Override
    public void close() {
        recording.close();
        memory.close();
    }
}
