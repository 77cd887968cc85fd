package io.kinema.jobs.process;

import io.kinema.engine.CancelledException;
import java.util.function.Consumer;

/** Makes clips, inside the engine process. {@link H3JobEngine} is the real one. Owns what it runs on until it is closed. */
public interface JobEngine extends AutoCloseable {
    /**
     * Makes the outputs of a request, one call at a time.
     *
     * @param reports takes stages, steps, savings and outputs as they come
     * @throws CancelledException when it was stopped
     * @throws RuntimeException   when it failed; {@link Refusals} says what becomes of it
     */
    void run(EngineOrder.Run order, StopRequest stop, Consumer<EngineReport> reports);

    @Override
    void close();
}
