package io.kinema.engine.convert;

import io.kinema.weights.BadWeightsException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Comparator;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;

/**
 * Owns a hidden folder beside its target until {@link #commit()} gives it the target's name in one step; closing without that
 * removes it, so a failure leaves the target as it was. Closing twice is harmless.
 */
final class StagedFolder implements AutoCloseable {
    private final Path target;
    private final Path hidden;

    private StagedFolder(Path target, Path hidden) {
        this.target = target;
        this.hidden = hidden;
    }

    /**
     * @param overwrite whether a folder that is there may be replaced; an empty one always may
     * @throws BadWeightsException when it is there and may not, or the folder above it cannot be written
     */
    static StagedFolder beside(Path target, boolean overwrite) {
        Path real = target.toAbsolutePath().normalize();
        if (Files.exists(real) && !overwrite && !empty(real)) {
            throw new BadWeightsException(target + ": is there already; give another --output, or --overwrite to replace it");
        }
        if (Files.exists(real) && !Files.isDirectory(real)) {
            throw new BadWeightsException(target + ": is a file, expected a folder or nothing; give another --output");
        }
        try {
            Path hidden = real.resolveSibling("." + real.getFileName() + "." + UUID.randomUUID() + ".tmp");
            return new StagedFolder(real, Files.createDirectory(hidden));
        } catch (IOException e) {
            throw unwritable(target, e);
        }
    }

    /** Where to write. */
    Path folder() {
        return hidden;
    }

    /** Puts the folder in the target's place. @throws BadWeightsException when that fails; what was there is then there still */
    void commit() {
        Path old = target.resolveSibling("." + target.getFileName() + "." + UUID.randomUUID() + ".old");
        try {
            boolean there = Files.exists(target);
            if (there) {
                Files.move(target, old, StandardCopyOption.ATOMIC_MOVE);
            }
            try {
                Files.move(hidden, target, StandardCopyOption.ATOMIC_MOVE);
            } catch (IOException e) {
                if (there) {
                    Files.move(old, target, StandardCopyOption.ATOMIC_MOVE);
                }
                throw e;
            }
            remove(old);
        } catch (IOException e) {
            throw unwritable(target, e);
        }
    }

    @Override
    public void close() {
        remove(hidden);
    }

    private static boolean empty(Path folder) {
        if (!Files.isDirectory(folder)) {
            return false;
        }
        try (Stream<Path> entries = Files.list(folder)) {
            return entries.findAny().isEmpty();
        } catch (IOException e) {
            throw unwritable(folder, e);
        }
    }

    private static void remove(Path folder) {
        if (!Files.exists(folder)) {
            return;
        }
        try (Stream<Path> below = Files.walk(folder)) {
            List<Path> deepestFirst = below.sorted(Comparator.reverseOrder()).toList();
            for (Path path : deepestFirst) {
                Files.delete(path);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(folder + " cannot be removed", e);
        }
    }

    private static BadWeightsException unwritable(Path target, IOException e) {
        return new BadWeightsException(target + ": cannot be written (" + e.getClass().getSimpleName() + ": " + e.getMessage()
                + "); check the folder above it, its permissions and the free space", e);
    }
}
