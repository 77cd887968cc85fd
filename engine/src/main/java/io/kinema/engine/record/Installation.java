package io.kinema.engine.record;

import io.kinema.weights.CheckpointIdentity;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The code that runs, by content.
 *
 * @param version    of Kinema
 * @param codeSha256 over everything on the class path: Kinema's own rooms, its libraries, and the native libraries that come in jars
 * @param java       virtual machine and version
 * @param javaSha256 over the virtual machine's library and the release notes of its JDK
 */
public record Installation(String version, String codeSha256, String java, String javaSha256) {
    private static Optional<Installation> known = Optional.empty();

    /** This process's. The first call on a machine reads a hundred megabytes, see {@link FileHashes}; one that fails is made again. */
    public static synchronized Installation here() {
        if (known.isEmpty()) {
            known = Optional.of(new Installation(EngineVersion.VERSION, code(System.getProperty("java.class.path")),
                    System.getProperty("java.vm.name") + " " + Runtime.version() + " (" + System.getProperty("java.vendor") + ")",
                    java(Path.of(System.getProperty("java.home")))));
        }
        return known.get();
    }

    /** The jars and class folders of a class path by name and content; their order and their folders do not matter. */
    static String code(String classPath) {
        return digest(Arrays.stream(classPath.split(File.pathSeparator)).filter(entry -> !entry.isEmpty()).map(Path::of).filter(Files::exists)
                .flatMap(Installation::files).sorted());
    }

    private static String java(Path home) {
        return digest(Stream.of(home.resolve("release"), home.resolve("lib/server").resolve(System.mapLibraryName("jvm")))
                .filter(Files::isRegularFile).map(file -> line(file.getParent(), file, FileHashes.ofUser()::sha256)));
    }

    private static Stream<String> files(Path entry) {
        if (!Files.isDirectory(entry)) {
            return Stream.of(line(entry.toAbsolutePath().getParent(), entry.toAbsolutePath(), FileHashes.ofUser()::sha256));
        }
        try (Stream<Path> walk = Files.walk(entry)) {
            return walk.filter(Files::isRegularFile).sorted(Comparator.naturalOrder()).map(file -> line(entry, file, CheckpointIdentity::sha256)).toList().stream();
        } catch (IOException e) {
            throw new UncheckedIOException(entry + ": cannot be listed for hashing", e);
        }
    }

    private interface Hash {
        String of(Path file) throws IOException;
    }

    private static String line(Path root, Path file, Hash hash) {
        try {
            return hash.of(file) + "  " + root.relativize(file).toString().replace('\\', '/') + "\n";
        } catch (IOException e) {
            throw new UncheckedIOException(file + ": cannot be read for hashing", e);
        }
    }

    private static String digest(Stream<String> lines) {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            List<String> all = lines.toList();
            all.forEach(line -> digest.update(line.getBytes(StandardCharsets.UTF_8)));
            return HexFormat.of().formatHex(digest.digest());
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }
}
