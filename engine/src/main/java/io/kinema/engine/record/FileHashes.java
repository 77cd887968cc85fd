package io.kinema.engine.record;

import io.kinema.media.file.CacheFolder;
import io.kinema.weights.CheckpointIdentity;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/**
 * SHA-256 of files of an installation: jars, native libraries, the JDK. A file is read once and its hash kept, in {@code hashes.txt} of the user's
 * cache folder too, because a command that starts cold would spend a second on them; a file of another size or time is read again. Models are
 * not kept here: {@link CheckpointIdentity} reads those in every process.
 */
public final class FileHashes {
    private static final long MOST_BYTES = 1 << 20;
    private static final FileHashes OF_USER = new FileHashes(CacheFolder.ofUser().resolve("hashes.txt"));

    private final Path kept;
    private final Map<String, String> known = new ConcurrentHashMap<>();
    private boolean read;

    /** @param kept file of lines {@code sha256 size nanoseconds path}; it need not be there, nor be writable */
    FileHashes(Path kept) {
        this.kept = kept;
    }

    /** Those in the user's cache folder. */
    public static FileHashes ofUser() {
        return OF_USER;
    }

    /** Hex SHA-256 of the file's content. @throws IOException when it cannot be read */
    public String sha256(Path file) throws IOException {
        load();
        Path real = file.toRealPath();
        String stamp = Files.size(real) + " " + Files.getLastModifiedTime(real).to(TimeUnit.NANOSECONDS) + " " + real;
        String hash = known.get(stamp);
        if (hash == null) {
            hash = CheckpointIdentity.sha256(real);
            known.put(stamp, hash);
            keep(hash + " " + stamp);
        }
        return hash;
    }

    private synchronized void load() {
        if (read) {
            return;
        }
        read = true;
        try {
            if (Files.size(kept) > MOST_BYTES) {
                Files.delete(kept);
                return;
            }
            List<String> lines = Files.readAllLines(kept);
            lines.stream().filter(line -> line.matches("[0-9a-f]{64} \\d+ -?\\d+ /.*")).forEach(line -> known.put(line.substring(65), line.substring(0, 64)));
        } catch (IOException absent) {
            // Then files are read, as the first time.
        }
    }

    /** One small write at the end of the file, whole even when several processes do so. */
    private synchronized void keep(String line) {
        try {
            Files.createDirectories(kept.toAbsolutePath().getParent());
            Files.write(kept, (line + "\n").getBytes(StandardCharsets.UTF_8), StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        } catch (IOException unwritable) {
            // The next process reads the file itself.
        }
    }
}
