package io.kinema.engine.preprocess;

import io.kinema.engine.BadRequestException;
import io.kinema.media.image.PillowLanczos;
import io.kinema.media.image.RgbImage;

/** Brings reference pictures to their own resolution: the short edge up or down to a given length, without a cap on the area. */
public final class ReferenceImages {

    private static final int MAX_RATIO = 4;

    private ReferenceImages() {
    }

    /**
     * The size a reference picture is brought to: both sides scaled alike and rounded (half to even) to {@code multiple}.
     *
     * @throws BadRequestException if the picture is not within 1:4 and 4:1
     */
    public static PixelSize size(int width, int height, int shortEdge, int multiple) {
        if (width < 1 || height < 1 || width > (long) MAX_RATIO * height || height > (long) MAX_RATIO * width) {
            throw new BadRequestException("references", "a picture of " + width + "x" + height,
                    "expected a shape from 1:4 to 4:1; crop it");
        }
        double scale = (double) shortEdge / Math.min(width, height);
        return new PixelSize(PixelSize.snap(width * scale / multiple, multiple), PixelSize.snap(height * scale / multiple, multiple));
    }

    /** The picture at {@link #size}. */
    public static RgbImage normalised(RgbImage image, int shortEdge, int multiple) {
        PixelSize size = size(image.width(), image.height(), shortEdge, multiple);
        return PillowLanczos.resize(image, size.width(), size.height());
    }
}
