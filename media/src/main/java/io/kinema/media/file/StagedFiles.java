package io.kinema.media.file;

import io.kinema.media.BadMediaException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Owns hidden folders beside the targets of several files; {@link #commit} moves what was written there into place, and closing
 * without that removes it, so that files that belong together appear together or not at all.
 *
 * <p>Each file is renamed in one step; between two renames another process may see some of them. The hidden folders also go when
 * the process is told to stop; when it is killed, {@link Leftovers} removes them later. Closing twice is harmless. For one thread.
 */
public final class StagedFiles implements AutoCloseable {

    /** @param replaced in a folder, the names of older files that go when the new ones come */
    private record Move(Path from, Path to, Predicate<String> replaced) {
    }

    private final Map<Path, HiddenFolder> beside = new LinkedHashMap<>();
    private final List<Move> moves = new ArrayList<>();

    /**
     * Where to write what will become {@code target}; in the same file system.
     *
     * @throws BadMediaException if {@code target} cannot be written
     */
    public Path stage(Path target) {
        Path real = WriteTarget.resolve(target);
        Path staged = besideOf(real.getParent()).resolve(moves.size() + "-" + real.getFileName());
        moves.add(new Move(staged, real, name -> false));
        return staged;
    }

    /**
     * A folder in which to write files that will stand in {@code folder}, which is made on commit when it is missing.
     *
     * @param replaced names of older files that are removed on commit, so that the folder does not mix two lots
     * @throws BadMediaException if files cannot be written there
     */
    public Path stageFolder(Path folder, Predicate<String> replaced) {
        Path real = folder.toAbsolutePath().normalize();
        boolean there = Files.isDirectory(real);
        WriteTarget.resolve(there ? real.resolve("file") : real);
        Path staged = besideOf(there ? real : real.getParent()).resolve(moves.size() + "-files");
        make(staged, folder);
        moves.add(new Move(staged, real, replaced));
        return staged;
    }

    /**
     * Moves everything into place, in the order in which it was staged; existing files are replaced. Looks first whether a folder
     * stands in the way of a file, and then moves nothing.
     *
     * @throws BadMediaException if that fails; files already moved stay
     */
    public void commit() {
        try {
            for (Move move : moves) {
                requireFree(move);
            }
        } catch (IOException e) {
            close();
            throw new BadMediaException("Cannot move the finished files into place: " + e.getMessage() + ".", e);
        } catch (BadMediaException e) {
            close();
            throw e;
        }
        for (Move move : moves) {
            try {
                if (Files.isDirectory(move.from())) {
                    moveFolder(move);
                } else {
                    Files.move(move.from(), move.to(), StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
                }
            } catch (IOException e) {
                close();
                throw WriteTarget.failure(move.to(), e);
            }
        }
        moves.clear();
        close();
    }

    private static void requireFree(Move move) throws IOException {
        if (!Files.isDirectory(move.from())) {
            WriteTarget.resolve(move.to());
        } else if (Files.exists(move.to())) {
            list(move.from()).forEach(file -> WriteTarget.resolve(move.to().resolve(file.getFileName())));
        }
    }

    private void moveFolder(Move move) throws IOException {
        if (!Files.exists(move.to())) {
            Files.move(move.from(), move.to(), StandardCopyOption.ATOMIC_MOVE);
            return;
        }
        List<Path> files = list(move.from());
        for (Path file : files) {
            Files.move(file, move.to().resolve(file.getFileName()), StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        }
        Set<String> names = files.stream().map(file -> file.getFileName().toString()).collect(Collectors.toSet());
        for (Path old : list(move.to())) {
            String name = old.getFileName().toString();
            if (Files.isRegularFile(old) && move.replaced().test(name) && !names.contains(name)) {
                Files.delete(old);
            }
        }
    }

    private static List<Path> list(Path folder) throws IOException {
        try (Stream<Path> all = Files.list(folder)) {
            return all.sorted().toList();
        }
    }

    /** A failure to write a staged file, in the names that the user knows. */
    public BadMediaException named(BadMediaException failure) {
        String message = failure.getMessage();
        for (Move move : moves) {
            message = message.replace(move.from().toString(), move.to().toString());
        }
        for (Map.Entry<Path, HiddenFolder> folder : beside.entrySet()) {
            message = message.replace(folder.getValue().path().toString(), folder.getKey().toString());
        }
        return new BadMediaException(message, failure);
    }

    private Path besideOf(Path folder) {
        return beside.computeIfAbsent(folder, f -> {
            try {
                HiddenFolder hidden = HiddenFolder.in(f);
                Pending.FOLDERS.add(hidden.path());
                return hidden;
            } catch (IOException e) {
                throw WriteTarget.failure(f, e);
            }
        }).path();
    }

    private static void make(Path folder, Path named) {
        try {
            Files.createDirectory(folder);
        } catch (IOException e) {
            throw WriteTarget.failure(named, e);
        }
    }

    @Override
    public void close() {
        beside.values().forEach(hidden -> {
            Pending.delete(hidden.path());
            hidden.close();
        });
        beside.clear();
    }

    /** Hidden folders that exist now, removed when the process is told to stop. */
    private static final class Pending {

        private static final Set<Path> FOLDERS = ConcurrentHashMap.newKeySet();

        static {
            Runtime.getRuntime().addShutdownHook(new Thread(() -> FOLDERS.forEach(Pending::delete), "kinema-remove-staged-files"));
        }

        static void delete(Path folder) {
            try (Stream<Path> all = Files.walk(folder)) {
                for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
                    Files.deleteIfExists(path);
                }
            } catch (IOException e) {
                // The folder is gone or no longer writable; the reason for closing is already being reported.
            }
            FOLDERS.remove(folder);
        }
    }
}
