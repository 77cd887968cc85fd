package io.kinema.engine.convert;

import io.kinema.weights.BadWeightsException;
import java.io.IOException;
import java.nio.file.Path;

/** Keeps what is written apart from what is read, whatever links and names lead to the one or the other. */
final class SourcePaths {
    private SourcePaths() {
    }

    /** @throws BadWeightsException when the file {@code to} would take the place of {@code source} or of something in it */
    static void requireFileApart(Path source, Path to) {
        if (real(to).startsWith(real(source))) {
            throw new BadWeightsException(to + ": lies within " + source + ", expected a file apart from what is read; give another --output");
        }
    }

    /** @throws BadWeightsException when the folder {@code to} would lie in {@code source} or hold it */
    static void requireFolderApart(Path source, Path to) {
        if (real(to).startsWith(real(source)) || real(source).startsWith(real(to))) {
            throw new BadWeightsException(to + ": lies within " + source + " or around it, expected a folder apart from what is read; give another --output");
        }
    }

    /** Without links, as far as it exists. */
    private static Path real(Path path) {
        Path absolute = path.toAbsolutePath().normalize();
        try {
            return absolute.toRealPath();
        } catch (IOException e) {
            Path above = absolute.getParent();
            return above == null ? absolute : real(above).resolve(absolute.getFileName());
        }
    }
}
