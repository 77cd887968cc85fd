package io.kinema.engine;

import io.kinema.engine.plan.PictureSizes;
import io.kinema.media.image.ImageHeader;
import io.kinema.media.image.ImageLimits;
import io.kinema.media.image.ImageReader;

/** Reads the sizes of pictures from their headers. */
final class PictureHeaders {
    static final PictureSizes SIZES = file -> {
        ImageHeader header = ImageReader.header(file, ImageLimits.DEFAULT);
        return new PictureSizes.Size(header.uprightWidth(), header.uprightHeight());
    };

    private PictureHeaders() {
    }
}
