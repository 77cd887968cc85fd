package io.kinema.media;

import java.net.URISyntaxException;
import java.nio.file.Path;

/** The small video and sound files among the test resources. */
public final class Clips {

    private Clips() {
    }

    public static Path of(String name) {
        try {
            return Path.of(Clips.class.getResource("/clips/" + name).toURI());
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }
}
