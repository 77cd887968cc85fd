package io.kinema.media.image;

/**
 * A picture: bytes in the order row, column, red-green-blue, without padding.
 *
 * <p>The array is shared, not copied: whoever made the picture gives it away, and nobody changes it afterwards.
 */
public final class RgbImage {

    /** Bytes of one pixel. */
    public static final int CHANNELS = 3;

    private final int width;
    private final int height;
    private final byte[] rgb;

    /**
     * @param width pixels, at least 1
     * @param height pixels, at least 1
     * @param rgb {@code height * width * 3} bytes
     */
    public RgbImage(int width, int height, byte[] rgb) {
        if (width < 1 || height < 1 || rgb.length != bytes(width, height)) {
            throw new IllegalArgumentException("A picture of " + width + "x" + height + " has " + width + " * " + height
                    + " * 3 bytes, got " + rgb.length + ".");
        }
        this.width = width;
        this.height = height;
        this.rgb = rgb;
    }

    /** A black picture. */
    public static RgbImage black(int width, int height) {
        return new RgbImage(width, height, new byte[bytes(width, height)]);
    }

    public int width() {
        return width;
    }

    public int height() {
        return height;
    }

    /** The pixels themselves, not a copy. */
    public byte[] rgb() {
        return rgb;
    }

    /** One value, 0..255. */
    public int at(int x, int y, int channel) {
        return rgb[(y * width + x) * CHANNELS + channel] & 0xff;
    }

    /** The part of this picture that begins at ({@code left}, {@code top}). */
    public RgbImage crop(int left, int top, int cropWidth, int cropHeight) {
        if (left < 0 || top < 0 || left + cropWidth > width || top + cropHeight > height) {
            throw new IllegalArgumentException("A crop of " + cropWidth + "x" + cropHeight + " at (" + left + ", " + top
                    + ") leaves a picture of " + width + "x" + height + ".");
        }
        byte[] part = new byte[bytes(cropWidth, cropHeight)];
        for (int y = 0; y < cropHeight; y++) {
            System.arraycopy(rgb, ((top + y) * width + left) * CHANNELS, part, y * cropWidth * CHANNELS, cropWidth * CHANNELS);
        }
        return new RgbImage(cropWidth, cropHeight, part);
    }

    private static int bytes(int width, int height) {
        return Math.multiplyExact(Math.multiplyExact(width, height), CHANNELS);
    }

    @Override
    public String toString() {
        return width + "x" + height + " RGB";
    }
}
