package io.kinema.fuzz;

import io.kinema.media.image.ImageLimits;
import io.kinema.media.image.ImageReader;
import io.kinema.media.image.RgbImage;

/** A picture in memory: probed and decoded, or refused. */
public final class ImageFuzz {
    private static final ImageLimits LIMITS = new ImageLimits(1 << 20, 1 << 18);

    private ImageFuzz() {
    }

    public static void fuzzerTestOneInput(byte[] data) {
        Refusals.allow(() -> {
            RgbImage image = ImageReader.decode(data, "'x'", LIMITS);
            if ((long) image.width() * image.height() > LIMITS.maxPixels()) {
                throw new AssertionError(image + " is beyond the limit");
            }
        });
    }
}
