package io.kinema.engine.plan;

import java.nio.file.Path;

/** Tells the size of a picture from its header, without decoding it. */
@FunctionalInterface
public interface PictureSizes {
    /**
     * Width and height in pixels as seen upright (EXIF orientation applied).
     *
     * @throws RuntimeException ({@code BadMediaException}) when there is no such file, it is no picture, or its sizes are absurd
     */
    Size of(Path file);

    /** Pixels, both at least 1. */
    record Size(int width, int height) {
    }
}
