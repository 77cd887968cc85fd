package io.kinema.engine.plan;

import io.kinema.engine.AdapterUse;
import io.kinema.engine.Task;
import io.kinema.model.adapter.Adapter;

/** Reads the adapters that requests name. */
@FunctionalInterface
public interface AdapterFiles {
    /** For models without adapters. */
    AdapterFiles NONE = (use, task) -> {
        throw new IllegalStateException("adapter " + use.file() + ": nothing here reads adapters, expected a request without");
    };

    /**
     * The adapter, checked against the transformer of a task.
     *
     * @throws io.kinema.weights.BadWeightsException when the file is not whole or not for that transformer
     */
    Adapter read(AdapterUse use, Task task);
}
