package io.kinema.serve.body;

import java.nio.file.Path;
import java.util.Objects;

/**
 * A file that came as a part of a multipart body.
 *
 * @param file  where it is staged
 * @param bytes its length
 */
public record Upload(Path file, long bytes) {
    public Upload {
        Objects.requireNonNull(file, "file");
    }
}
