package io.kinema.model.adapter;

import io.kinema.weights.BadWeightsException;
import io.kinema.weights.CheckpointIdentity;
import io.kinema.weights.SafetensorsFile;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * Owns the memory map of one adapter file, and the rows that had to be put in order, until it is closed; its
 * {@link #adapter()} is a view of both. Closing twice is harmless. Safe for use by several threads.
 */
public final class AdapterFile implements AutoCloseable {
    private final SafetensorsFile file;
    private final Arena arena;
    private final Adapter adapter;
    private boolean closed;

    private AdapterFile(SafetensorsFile file, Arena arena, Adapter adapter) {
        this.file = file;
        this.arena = arena;
        this.adapter = adapter;
    }

    /**
     * Reads every byte of the file: its digest says what it is, and no value may be infinite or NaN.
     *
     * @param transformer what it must fit
     * @param otherwise   alpha of a file that neither states it nor is known; empty refuses such a file
     * @throws BadWeightsException when it cannot be read, is not whole, or is not for this transformer
     */
    public static AdapterFile open(Path path, TransformerTensors transformer, Optional<Alpha> otherwise) {
        SafetensorsFile file = SafetensorsFile.open(path);
        Arena arena = Arena.ofShared();
        try {
            CheckpointIdentity.FileHash hash = CheckpointIdentity.of(path).files().getFirst();
            AdapterSource source = new AdapterSource(file, file.metadata(), hash.name(), hash.sha256(), Files.size(path));
            return new AdapterFile(file, arena, new AdapterReader(source, transformer, otherwise, arena).read());
        } catch (IOException e) {
            close(file, arena);
            throw new BadWeightsException(path + ": cannot be read (" + e.getMessage() + "); check the path and its permissions", e);
        } catch (RuntimeException e) {
            close(file, arena);
            throw e;
        }
    }

    public Adapter adapter() {
        return adapter;
    }

    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            close(file, arena);
        }
    }

    private static void close(SafetensorsFile file, Arena arena) {
        file.close();
        arena.close();
    }
}
