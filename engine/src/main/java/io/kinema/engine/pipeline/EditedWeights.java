package io.kinema.engine.pipeline;

import io.kinema.engine.AdapterUse;
import io.kinema.model.adapter.AdapterFile;
import io.kinema.model.adapter.Alpha;
import io.kinema.model.adapter.FusedTensors;
import io.kinema.model.dit.DitConfig;
import io.kinema.model.dit.DitTensors;
import io.kinema.weights.TensorSource;
import java.nio.file.Path;
import java.util.Optional;

/**
 * Owns a transformer's weights as an adapter edits them, and the adapter's file, until it is closed; closing twice is harmless. The file is
 * not the library's, which lets go of what a request does not use: weights are edited when they are asked for, which may be much later.
 */
final class EditedWeights implements AutoCloseable {
    private final Key key;
    private final AdapterFile file;
    private final FusedTensors tensors;

    /**
     * What was edited by what.
     *
     * @param transformer where the base's weights come from
     * @param sha256      of the adapter
     * @param alpha       where the file does not state it
     */
    record Key(Path transformer, String sha256, Optional<Alpha> alpha) {
    }

    private EditedWeights(Key key, AdapterFile file, TensorSource base) {
        this.key = key;
        this.file = file;
        this.tensors = FusedTensors.of(base, file.adapter());
    }

    /** @param base must outlive it */
    static EditedWeights open(Key key, AdapterUse use, DitConfig config, TensorSource base) {
        AdapterFile file = AdapterFile.open(use.file(), DitTensors.forAdapters(config), use.alpha());
        try {
            return new EditedWeights(key, file, base);
        } catch (RuntimeException e) {
            file.close();
            throw e;
        }
    }

    Key key() {
        return key;
    }

    TensorSource tensors() {
        return tensors;
    }

    @Override
    public void close() {
        tensors.close();
        file.close();
    }
}
