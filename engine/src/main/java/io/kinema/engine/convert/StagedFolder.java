package io.kinema.engine.convert;

import io.kinema.engine.model.OriginalPartition;
import io.kinema.media.file.HiddenFolder;
import io.kinema.media.file.Leftovers;
import io.kinema.weights.BadWeightsException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Comparator;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;

/**
 * Owns a hidden folder beside its target until {@link #commit()} gives it the target's name in one step; closing without that
 * removes it, so a failure leaves the target as it was. The hidden folder also goes when the process is told to stop; when it is killed, with
 * the next conversion to a place beside it. Closing twice is harmless.
 */
final class StagedFolder implements AutoCloseable {
    private final Path target;
    private final HiddenFolder hidden;

    /** Other threads may write on while the process ends, so emptying the folder may take more than one try. */
    private static final int TRIES = 50;
    /** One of these lies in every folder of a model or network, and in what was converted before. */
    private static final List<String> REPLACEABLE = List.of("model_index.json", "config.json", OriginalPartition.Kind.FL2VA.folder(), OriginalPartition.Kind.REF2VA.folder(),
            ConversionReport.CHECKSUMS);

    private final Thread stop;

    private StagedFolder(Path target, HiddenFolder hidden) throws IOException {
        this.target = target;
        this.hidden = hidden;
        this.stop = new Thread(() -> abandon(hidden.path()), "kinema-staged-folder");
        Runtime.getRuntime().addShutdownHook(stop);
        Files.createDirectory(folder());
    }

    /**
     * For one file.
     *
     * @throws BadWeightsException when the folder of the target cannot be written
     */
    static StagedFolder forFile(Path target) {
        return hidden(target.toAbsolutePath().normalize());
    }

    private static StagedFolder hidden(Path real) {
        Path above = real.getParent();
        if (above == null || !Files.isDirectory(above)) {
            throw new BadWeightsException(real + ": cannot be written, " + (above != null && Files.exists(above) ? above + " is no folder; give another --output"
                    : "the folder " + above + " does not exist; create it first"));
        }
        try {
            Leftovers.removeIn(above);
            return new StagedFolder(real, HiddenFolder.in(above));
        } catch (IOException e) {
            throw unwritable(real, e);
        }
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
        if (Files.exists(real) && !empty(real) && REPLACEABLE.stream().noneMatch(name -> Files.exists(real.resolve(name)))) {
            throw new BadWeightsException(target + ": holds other things than a model, which would be lost with it; give another --output, or empty it first");
        }
        return hidden(real);
    }

    /** Where to write. */
    Path folder() {
        return hidden.path().resolve("files");
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
                Files.move(folder(), target, StandardCopyOption.ATOMIC_MOVE);
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

    /** Where the file of {@link #forFile} is to be written. */
    Path file() {
        return folder().resolve(target.getFileName());
    }

    /** Puts the file in the target's place. @throws BadWeightsException when that fails */
    void commitFile() {
        try {
            Files.move(file(), target, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException e) {
            throw unwritable(target, e);
        }
    }

    @Override
    public void close() {
        remove(hidden.path());
        hidden.close();
        try {
            Runtime.getRuntime().removeShutdownHook(stop);
        } catch (IllegalStateException e) {
            // The process is ending: the hook runs, and finds nothing.
        }
    }

    private static void abandon(Path folder) {
        for (int i = 0; i < TRIES && Files.exists(folder); i++) {
            try {
                remove(folder);
            } catch (UncheckedIOException e) {
                // Something was written meanwhile; try again.
            }
        }
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
        String why = e instanceof FileSystemException system && system.getReason() != null ? system.getReason() : "it takes no such file";
        return new BadWeightsException(target + ": cannot be written (" + why + "); check the folder above it, its permissions and the free space", e);
    }
}
