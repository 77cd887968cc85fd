package io.kinema.jobs.worker;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;

/** Folders for files that are needed while a job runs. */
final class WorkFolder {
    private WorkFolder() {
    }

    /** An empty folder with this name. @throws IOException when it cannot be made */
    static Path make(Path parent, String name) throws IOException {
        Path folder = parent.resolve(name);
        delete(folder);
        return Files.createDirectories(folder);
    }

    /** Removes a folder with all that is in it; what cannot be removed stays, for the next start to try again. */
    static void delete(Path folder) {
        if (!Files.exists(folder)) {
            return;
        }
        try (Stream<Path> all = Files.walk(folder)) {
            for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(path);
            }
        } catch (IOException | UncheckedIOException left) {
            // An engine that is being killed may still write there.
        }
    }
}
