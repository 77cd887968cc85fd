package io.kinema.engine.pipeline;

import io.kinema.model.adapter.Adapter;
import io.kinema.model.adapter.AdapterFile;
import io.kinema.model.adapter.Alpha;
import io.kinema.model.adapter.TransformerTensors;
import io.kinema.model.dit.LoadedAdapter;
import io.kinema.model.dit.Transformer;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;

/** Owns the adapters of one piece of work, files and device copies, until it is closed; closing twice is harmless. */
public final class AdapterStack implements AutoCloseable {
    private final Deque<AutoCloseable> owned = new ArrayDeque<>();

    /** Reads a file. @throws io.kinema.weights.BadWeightsException when it is not whole or not for this transformer */
    public Adapter open(Path path, TransformerTensors transformer, Optional<Alpha> otherwise) {
        AdapterFile file = AdapterFile.open(path, transformer, otherwise);
        owned.push(file);
        return file.adapter();
    }

    /** Puts an adapter that {@link #open} gave on a transformer's devices. */
    public LoadedAdapter load(Transformer dit, Adapter adapter) {
        LoadedAdapter loaded = dit.load(adapter);
        owned.push(loaded);
        return loaded;
    }

    @Override
    public void close() {
        while (!owned.isEmpty()) {
            switch (owned.pop()) {
                case LoadedAdapter loaded -> loaded.close();
                case AdapterFile file -> file.close();
                case AutoCloseable other -> throw new IllegalStateException("nothing else is pushed: " + other);
            }
        }
    }
}
