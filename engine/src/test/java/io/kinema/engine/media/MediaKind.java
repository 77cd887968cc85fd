package io.kinema.engine.media;

import java.io.IOException;
import java.nio.file.Path;

/**
 * One kind of file that people bring.
 *
 * @param section heading of the table it stands in
 * @param role    picture, video or sound
 * @param name    file name
 * @param what    in words
 * @param seconds duration it was made with, 0 for pictures and files that are refused
 * @param maker   writes the file
 */
record MediaKind(String section, Role role, String name, String what, double seconds, Maker maker) {
    /** How a request uses the file. */
    enum Role { PICTURE, VIDEO, SOUND }

    /** Writes a file of a kind. */
    @FunctionalInterface
    interface Maker {
        void write(Path target) throws IOException;
    }
}
