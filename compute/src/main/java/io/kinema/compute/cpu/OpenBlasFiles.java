package io.kinema.compute.cpu;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.SymbolLookup;
import java.net.JarURLConnection;
import java.net.URL;
import java.net.URLConnection;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;
import java.util.zip.CRC32;

/**
 * Finds the OpenBLAS library: the one that the environment variable KINEMA_OPENBLAS names, or the one packed in a jar on the
 * class path, unpacked once into a cache folder, or the system's. The cache folder is named by the files' checksums and appears
 * whole or not at all, so processes that start together may share it.
 */
final class OpenBlasFiles {
    static final String VARIABLE = "KINEMA_OPENBLAS";
    private static final String PACKED = "org/bytedeco/openblas/linux-x86_64/";
    /** In loading order: each needs those before it. */
    private static final List<String> FILES = List.of("libquadmath.so.0", "libgfortran.so.5", "libopenblas.so.0");
    private static final String SYSTEM_NAME = "libopenblas.so.0";

    private OpenBlasFiles() {
    }

    /** What to load: a file after its dependencies, or a bare name for the system's loader. */
    record Library(String name, List<Path> files) {
        SymbolLookup open() {
            try {
                if (files.isEmpty()) {
                    return SymbolLookup.libraryLookup(name, Arena.global());
                }
                for (Path dependency : files.subList(0, files.size() - 1)) {
                    SymbolLookup.libraryLookup(dependency, Arena.global());
                }
                return SymbolLookup.libraryLookup(files.getLast(), Arena.global());
            } catch (IllegalArgumentException e) {
                throw new IllegalStateException("OpenBLAS: " + name + " cannot be loaded (" + e.getMessage()
                        + "); install libopenblas0 or point " + VARIABLE + " to a libopenblas.so", e);
            }
        }

        @Override
        public String toString() {
            return name;
        }
    }

    static Library find() {
        return find(Optional.ofNullable(System.getenv(VARIABLE)).filter(s -> !s.isBlank()), cacheFolder());
    }

    static Library find(Optional<String> named, Path cache) {
        if (named.isPresent()) {
            Path file = Path.of(named.get());
            if (!Files.isRegularFile(file)) {
                throw new IllegalStateException(VARIABLE + ": got " + file + ", expected a libopenblas.so file");
            }
            return new Library(file.toAbsolutePath().toString(), List.of(file.toAbsolutePath()));
        }
        List<URL> packed = packed();
        if (packed.isEmpty()) {
            return new Library(SYSTEM_NAME, List.of());
        }
        Path folder = unpacked(packed, cache);
        return new Library(folder.resolve(FILES.getLast()).toString(), FILES.stream().map(folder::resolve).toList());
    }

    /** The library and its dependencies as resources; empty when this platform's are not on the class path. */
    private static List<URL> packed() {
        String platform = System.getProperty("os.name").toLowerCase(Locale.ROOT) + "-" + System.getProperty("os.arch");
        List<URL> found = new ArrayList<>();
        for (String file : FILES) {
            URL url = platform.equals("linux-amd64") ? OpenBlasFiles.class.getClassLoader().getResource(PACKED + file) : null;
            if (url == null) {
                return List.of();
            }
            found.add(url);
        }
        return found;
    }

    /**
     * {@code kinema/native} in {@code $XDG_CACHE_HOME} where that is an absolute path, else in {@code .cache} of {@code $HOME}, else of
     * the home folder that the JVM knows; the other native libraries follow the same rule in rooms that this one cannot see.
     */
    static Path cacheFolder() {
        String caches = System.getenv().getOrDefault("XDG_CACHE_HOME", "");
        String home = System.getenv().getOrDefault("HOME", "");
        Path folder = caches.startsWith("/") ? Path.of(caches) : Path.of(home.startsWith("/") ? home : System.getProperty("user.home"), ".cache");
        return folder.resolve("kinema").resolve("native");
    }

    private static Path unpacked(List<URL> packed, Path cache) {
        try {
            List<Entry> entries = new ArrayList<>();
            for (int i = 0; i < packed.size(); i++) {
                entries.add(Entry.of(FILES.get(i), packed.get(i)));
            }
            Path folder = cache.resolve("openblas-" + key(entries));
            if (!complete(folder, entries)) {
                publish(entries, writable(cache), folder);
            }
            return complete(folder, entries) ? folder : unpackFor(entries);
        } catch (IOException e) {
            throw new UncheckedIOException("OpenBLAS: unpacking into " + cache + " failed (" + e.getMessage()
                    + "); make room there, set XDG_CACHE_HOME, or point " + VARIABLE + " to a libopenblas.so", e);
        }
    }

    /** The folder itself, or where it cannot be created the system's folder for temporary files. */
    private static Path writable(Path cache) throws IOException {
        try {
            return Files.createDirectories(cache);
        } catch (IOException e) {
            return Path.of(System.getProperty("java.io.tmpdir"));
        }
    }

    /** A private copy for this process, where the shared folder cannot be written. */
    private static Path unpackFor(List<Entry> entries) throws IOException {
        Path folder = Files.createTempDirectory("kinema-native");
        folder.toFile().deleteOnExit();
        for (Entry entry : entries) {
            Path file = folder.resolve(entry.name);
            entry.copyTo(file);
            file.toFile().deleteOnExit();
        }
        return folder;
    }

    /** Unpacks beside the target and renames; when another process was first, its folder stays. */
    private static void publish(List<Entry> entries, Path parent, Path folder) throws IOException {
        if (!parent.equals(folder.getParent())) {
            return;
        }
        Path partial = Files.createTempDirectory(parent, ".openblas-");
        try {
            for (Entry entry : entries) {
                entry.copyTo(partial.resolve(entry.name));
            }
            Files.move(partial, folder, StandardCopyOption.ATOMIC_MOVE);
        } catch (FileSystemException e) {
            // Another process published first, or this folder cannot take it: the caller looks and falls back.
            return;
        } finally {
            deleteFolder(partial);
        }
    }

    private static void deleteFolder(Path folder) throws IOException {
        if (!Files.exists(folder)) {
            return;
        }
        try (Stream<Path> inside = Files.walk(folder)) {
            for (Path path : inside.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(path);
            }
        }
    }

    private static boolean complete(Path folder, List<Entry> entries) throws IOException {
        for (Entry entry : entries) {
            Path file = folder.resolve(entry.name);
            if (!Files.isRegularFile(file) || Files.size(file) != entry.size) {
                return false;
            }
        }
        return true;
    }

    private static String key(List<Entry> entries) {
        CRC32 all = new CRC32();
        entries.forEach(e -> all.update((e.name + e.size + ":" + e.crc).getBytes(StandardCharsets.UTF_8)));
        return String.format(Locale.ROOT, "%08x-%08x", entries.getLast().crc, all.getValue());
    }

    /** A packed file with the size and CRC-32 from the jar's own directory: hashing 40 MB again would delay every start. */
    private record Entry(String name, URL url, long size, long crc) {
        static Entry of(String name, URL url) throws IOException {
            URLConnection connection = url.openConnection();
            if (connection instanceof JarURLConnection jar && jar.getJarEntry() != null) {
                return new Entry(name, url, jar.getJarEntry().getSize(), jar.getJarEntry().getCrc());
            }
            CRC32 crc = new CRC32();
            byte[] bytes;
            try (InputStream in = connection.getInputStream()) {
                bytes = in.readAllBytes();
            }
            crc.update(bytes);
            return new Entry(name, url, bytes.length, crc.getValue());
        }

        void copyTo(Path file) throws IOException {
            try (InputStream in = url.openStream()) {
                Files.copy(in, file);
            }
        }
    }
}
