package io.kinema.media.image;

/**
 * The eight ways a camera can store a picture, in the order of EXIF's values 1..8; each name says what turns the stored pixels
 * upright.
 */
public enum Orientation {
    UPRIGHT, FLIP_HORIZONTALLY, TURN_HALF, FLIP_VERTICALLY, TRANSPOSE, TURN_CLOCKWISE, TRANSVERSE, TURN_COUNTERCLOCKWISE;

    /** The orientation of an EXIF value; anything but 1..8 is upright. */
    public static Orientation of(int exifValue) {
        return exifValue < 1 || exifValue > values().length ? UPRIGHT : values()[exifValue - 1];
    }

    /** Whether width and height change places. */
    public boolean swapsSides() {
        return ordinal() >= TRANSPOSE.ordinal();
    }

    /** The upright picture. */
    public RgbImage apply(RgbImage stored) {
        if (this == UPRIGHT) {
            return stored;
        }
        int width = swapsSides() ? stored.height() : stored.width();
        int height = swapsSides() ? stored.width() : stored.height();
        RgbImage upright = RgbImage.black(width, height);
        for (int y = 0; y < height; y++) {
            for (int x = 0; x < width; x++) {
                System.arraycopy(stored.rgb(), source(stored, x, y) * RgbImage.CHANNELS, upright.rgb(),
                        (y * width + x) * RgbImage.CHANNELS, RgbImage.CHANNELS);
            }
        }
        return upright;
    }

    /** Index of the stored pixel that belongs at ({@code x}, {@code y}). */
    private int source(RgbImage stored, int x, int y) {
        int right = stored.width() - 1;
        int bottom = stored.height() - 1;
        int sourceX = switch (this) {
            case UPRIGHT, FLIP_VERTICALLY -> x;
            case FLIP_HORIZONTALLY, TURN_HALF -> right - x;
            case TRANSPOSE, TURN_CLOCKWISE -> y;
            case TRANSVERSE, TURN_COUNTERCLOCKWISE -> right - y;
        };
        int sourceY = switch (this) {
            case UPRIGHT, FLIP_HORIZONTALLY -> y;
            case FLIP_VERTICALLY, TURN_HALF -> bottom - y;
            case TRANSPOSE, TURN_COUNTERCLOCKWISE -> x;
            case TRANSVERSE, TURN_CLOCKWISE -> bottom - x;
        };
        return sourceY * stored.width() + sourceX;
    }
}
