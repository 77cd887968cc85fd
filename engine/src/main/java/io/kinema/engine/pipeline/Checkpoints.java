package io.kinema.engine.pipeline;

import io.kinema.compute.Backend;
import io.kinema.model.dit.DitTensors;
import io.kinema.model.load.HostMemory;
import io.kinema.model.load.HostWeights;
import io.kinema.weights.HeldTensors;
import io.kinema.weights.TensorSource;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.function.Supplier;

/**
 * Owns a model's weight maps, one for each place they come from, until it is closed; closing twice is harmless, and networks over them
 * must be closed before. Used by one thread; those that open maps ahead are its own affair.
 */
final class Checkpoints implements AutoCloseable {
    private final Backend backend;
    private final HostWeights hostWeights;
    /** Opened ahead on background threads; taken by {@link #of}. */
    private final Map<Path, CompletableFuture<TensorSource>> ahead = new HashMap<>();
    private final Map<Path, TensorSource> opened = new HashMap<>();

    /** @param hostWeights what host memory weights are read from */
    Checkpoints(Backend backend, HostWeights hostWeights) {
        this.backend = backend;
        this.hostWeights = hostWeights;
    }

    /** One view of a checkpoint, whichever parts are read from it. */
    TensorSource of(Path path, Supplier<TensorSource> opener) {
        return opened.computeIfAbsent(path, p -> {
            CompletableFuture<TensorSource> opening = ahead.remove(p);
            TensorSource stored = opening == null ? opener.get() : joined(opening);
            return HostMemory.of(backend, hostWeights).<TensorSource>map(memory -> HeldTensors.of(stored, memory, DitTensors::everyStep)).orElse(stored);
        });
    }

    /** Maps a checkpoint on another thread. A failure is reported by {@link #of}. */
    void prefetch(Path path, Supplier<TensorSource> opener, Executor background) {
        if (!opened.containsKey(path)) {
            ahead.computeIfAbsent(path, p -> CompletableFuture.supplyAsync(opener, background));
        }
    }

    /** Bytes of weights copied to host memory. */
    long heldBytes() {
        return opened.values().stream().mapToLong(source -> source instanceof HeldTensors held ? held.heldBytes() : 0).sum();
    }

    /** The result, or the exception that the other thread met, as if this one had met it. */
    private static TensorSource joined(CompletableFuture<TensorSource> opening) {
        try {
            return opening.join();
        } catch (CompletionException e) {
            throw e.getCause() instanceof RuntimeException cause ? cause : e;
        }
    }

    @Override
    public void close() {
        // What was opened ahead and never used is closed when it is there; its failure no longer matters.
        ahead.values().forEach(opening -> opening.thenAccept(TensorSource::close));
        ahead.clear();
        opened.values().forEach(TensorSource::close);
        opened.clear();
    }
}
