package io.kinema.weights.prepared;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * One file that prepared weights were made from, as it was then.
 *
 * @param path its real one
 * @param stat size, inode and times
 * @param head hex SHA-256 of its first MiB, where the formats that are read have their headers
 */
record SourceFile(Path path, FileStat stat, String head) {
    private static final int HEAD = 1 << 20;

    static SourceFile of(Path file) throws IOException {
        Path real = file.toRealPath();
        try (InputStream in = Files.newInputStream(real)) {
            return new SourceFile(real, FileStat.of(real), Sha256.hex(in.readNBytes(HEAD)));
        }
    }
}
