package io.kinema.media.file;

import java.nio.file.Path;
import java.util.Map;

/** Where what can be made again is kept for the next process. */
public final class CacheFolder {

    private CacheFolder() {
    }

    /**
     * {@code kinema} in the user's folder for caches: {@code $XDG_CACHE_HOME} where that is an absolute path, else {@code .cache} in
     * {@code $HOME}, else in the home folder that the JVM knows.
     */
    public static Path ofUser() {
        return of(System.getenv(), System.getProperty("user.home"));
    }

    static Path of(Map<String, String> environment, String userHome) {
        String caches = environment.getOrDefault("XDG_CACHE_HOME", "");
        String home = environment.getOrDefault("HOME", "");
        Path folder = caches.startsWith("/") ? Path.of(caches) : Path.of(home.startsWith("/") ? home : userHome, ".cache");
        return folder.resolve("kinema");
    }
}
