package io.kinema.engine.prompt;

import io.kinema.media.file.CacheFolder;
import java.io.IOException;
import java.io.InputStream;
import java.net.JarURLConnection;
import java.net.URL;
import java.net.URLConnection;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Locale;

/**
 * Loads the native library that DJL's tokenizers jar carries, once in a process. DJL's own loader first looks for CUDA (it
 * starts a process and a second native bridge for it, 0.1 s of CPU time) and may download another build; this one does
 * neither: the packed CPU build is unpacked once into {@code native} in the user's {@link CacheFolder}
 * and loaded from there.
 */
final class TokenizerLibrary {
    private static final Object LOCK = new Object();
    private static boolean loaded;

    private TokenizerLibrary() {
    }

    /** @throws IllegalStateException when there is no library for this machine or it does not load */
    static void load() {
        synchronized (LOCK) {
            if (!loaded) {
                try {
                    System.load(unpacked(cacheFolder()).toAbsolutePath().toString());
                } catch (IOException | UnsatisfiedLinkError e) {
                    throw new IllegalStateException("tokenizer: the native library for " + platform() + " did not load ("
                            + e.getMessage() + "); set XDG_CACHE_HOME to a writable folder that may hold programs", e);
                }
                loaded = true;
            }
        }
    }

    /** The library file: the one unpacked before when it is whole, else a new copy, else a private one for this process. */
    static Path unpacked(Path cache) throws IOException {
        URL packed = packed();
        URLConnection connection = packed.openConnection();
        boolean inJar = connection instanceof JarURLConnection;
        long size = inJar ? ((JarURLConnection) connection).getJarEntry().getSize() : connection.getContentLengthLong();
        long crc = inJar ? ((JarURLConnection) connection).getJarEntry().getCrc() : size;
        Path file = cache.resolve(String.format(Locale.ROOT, "tokenizers-%08x", crc)).resolve(fileName());
        if (whole(file, size)) {
            return file;
        }
        try {
            publish(packed, file);
            return file;
        } catch (IOException e) {
            return whole(file, size) ? file : privateCopy(packed);
        }
    }

    private static boolean whole(Path file, long size) throws IOException {
        return Files.isRegularFile(file) && Files.size(file) == size;
    }

    /** Writes beside the target and renames, so that processes which start together see a whole file or none. */
    private static void publish(URL packed, Path file) throws IOException {
        Files.createDirectories(file.getParent());
        Path partial = Files.createTempFile(file.getParent(), ".unpacking", "");
        try {
            copy(packed, partial);
            Files.move(partial, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } finally {
            Files.deleteIfExists(partial);
        }
    }

    private static Path privateCopy(URL packed) throws IOException {
        Path folder = Files.createTempDirectory("kinema-native");
        folder.toFile().deleteOnExit();
        Path file = folder.resolve(fileName());
        file.toFile().deleteOnExit();
        copy(packed, file);
        return file;
    }

    private static void copy(URL from, Path to) throws IOException {
        try (InputStream in = from.openStream()) {
            Files.copy(in, to, StandardCopyOption.REPLACE_EXISTING);
        }
    }

    private static URL packed() throws IOException {
        URL url = TokenizerLibrary.class.getClassLoader().getResource("native/lib/" + platform() + "/cpu/" + fileName());
        if (url == null) {
            throw new IOException("the ai.djl.huggingface:tokenizers jar has none for it");
        }
        return url;
    }

    /** The platform as the jar names it, such as {@code linux-x86_64}. */
    private static String platform() {
        String system = System.getProperty("os.name").toLowerCase(Locale.ROOT);
        String machine = System.getProperty("os.arch");
        return (system.startsWith("mac") ? "osx" : system) + "-" + (machine.equals("amd64") ? "x86_64" : machine);
    }

    private static String fileName() {
        return System.mapLibraryName("tokenizers");
    }

    private static Path cacheFolder() {
        return CacheFolder.ofUser().resolve("native");
    }
}
