package io.kinema.engine;

import io.kinema.engine.plan.PictureSizes;
import io.kinema.media.image.ImageHeader;
import io.kinema.media.image.ImageLimits;
import io.kinema.media.image.ImageReader;

/** Reads the sizes of pictures from their headers. */
final class PictureHeaders {
    static final PictureSizes SIZES = file -> {
        ImageHeader header = ImageReader.header(file, ImageLimits.DEFAULT);
        int width = Math.toIntExact(header.width());
        int height = Math.toIntExact(header.height());
        return header.orientation().swapsSides() ? new PictureSizes.Size(height, width) : new PictureSizes.Size(width, height);
    };

    private PictureHeaders() {
    }
}
