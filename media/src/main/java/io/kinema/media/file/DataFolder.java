package io.kinema.media.file;

import java.nio.file.Path;
import java.util.Map;

/** Where what cannot be made again is kept for the user. */
public final class DataFolder {

    private DataFolder() {
    }

    /**
     * {@code kinema} in the user's folder for data: {@code $XDG_DATA_HOME} where that is an absolute path, else {@code .local/share} in
     * {@code $HOME}, else in the home folder that the JVM knows.
     */
    public static Path ofUser() {
        return of(System.getenv(), System.getProperty("user.home"));
    }

    static Path of(Map<String, String> environment, String userHome) {
        String data = environment.getOrDefault("XDG_DATA_HOME", "");
        String home = environment.getOrDefault("HOME", "");
        Path folder = data.startsWith("/") ? Path.of(data) : Path.of(home.startsWith("/") ? home : userHome, ".local", "share");
        return folder.resolve("kinema");
    }
}
