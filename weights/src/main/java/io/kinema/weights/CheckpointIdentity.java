package io.kinema.weights;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.FileVisitOption;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/**
 * What a checkpoint is, by content: the SHA-256 of every file that decides a result (weights, configs, vocabularies), and
 * one over all of them. Renaming the folder does not change it; renaming a file inside does.
 *
 * @param sha256 hex SHA-256 of the lines {@code <sha256 of file>  <relative name>\n} in name order
 * @param files  the files in name order
 */
public record CheckpointIdentity(String sha256, List<FileHash> files) {
    private static final List<String> COUNTED = List.of(".safetensors", ".gguf", ".json", ".txt");
    private static final int BUFFER = 1 << 20;
    /** Of this process's life only. */
    private static final Map<FileStamp, String> CACHE = new ConcurrentHashMap<>();

    /**
     * @param name   relative to the folder, with slashes
     * @param bytes  size
     * @param sha256 hex
     */
    public record FileHash(String name, long bytes, String sha256) {
    }

    public CheckpointIdentity {
        files = List.copyOf(files);
    }

    /** Reads every byte once per process. @throws BadWeightsException when a file cannot be read */
    public static CheckpointIdentity of(Path folderOrFile) {
        try {
            List<FileHash> files = new ArrayList<>();
            MessageDigest all = digest();
            for (Path file : counted(folderOrFile)) {
                FileHash hash = hash(folderOrFile, file);
                files.add(hash);
                all.update((hash.sha256() + "  " + hash.name() + "\n").getBytes(StandardCharsets.UTF_8));
            }
            return new CheckpointIdentity(hex(all), files);
        } catch (IOException e) {
            throw new BadWeightsException(folderOrFile + ": cannot be read for hashing (" + e.getMessage() + "); check the path and its permissions", e);
        }
    }

    /** Hex SHA-256 of one file's content. @throws IOException when it cannot be read */
    public static String sha256(Path file) throws IOException {
        MessageDigest digest = digest();
        byte[] buffer = new byte[BUFFER];
        try (InputStream in = Files.newInputStream(file)) {
            for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
                digest.update(buffer, 0, n);
            }
        }
        return hex(digest);
    }

    private static List<Path> counted(Path root) throws IOException {
        if (!Files.isDirectory(root)) {
            return List.of(root);
        }
        try (Stream<Path> walk = Files.walk(root, FileVisitOption.FOLLOW_LINKS)) {
            return walk.filter(p -> COUNTED.stream().anyMatch(s -> p.getFileName().toString().endsWith(s)) && Files.isRegularFile(p))
                    .sorted(Comparator.comparing(p -> relative(root, p))).toList();
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
    }

    private static FileHash hash(Path root, Path file) throws IOException {
        FileStamp stamp = FileStamp.of(file);
        String known = CACHE.get(stamp);
        String hash = known != null ? known : sha256(file);
        CACHE.put(stamp, hash);
        return new FileHash(Files.isDirectory(root) ? relative(root, file) : file.getFileName().toString(), stamp.bytes(), hash);
    }

    private static String relative(Path root, Path file) {
        return root.relativize(file).toString().replace('\\', '/');
    }

    static MessageDigest digest() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }

    static String hex(MessageDigest digest) {
        return HexFormat.of().formatHex(digest.digest());
    }
}
