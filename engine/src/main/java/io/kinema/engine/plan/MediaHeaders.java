package io.kinema.engine.plan;

import io.kinema.media.container.MediaHeader;
import java.nio.file.Path;

/** Tells what a video or a sound says of itself, without decoding it. */
@FunctionalInterface
public interface MediaHeaders {
    /**
     * The file's header.
     *
     * @throws RuntimeException ({@code BadMediaException}) when there is no such file, it is neither, or it is beyond the limits
     */
    MediaHeader of(Path file);
}
