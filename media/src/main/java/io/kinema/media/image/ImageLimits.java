package io.kinema.media.image;

/**
 * What a picture may cost to read; checked against its header before any pixel is decoded.
 *
 * @param maxBytes largest file
 * @param maxPixels largest width times height
 */
public record ImageLimits(long maxBytes, long maxPixels) {

    /** 64 MiB and 64 Mi pixels, more than any camera phone makes. */
    public static final ImageLimits DEFAULT = new ImageLimits(64L << 20, 64L << 20);

    public ImageLimits {
        if (maxBytes < 1 || maxPixels < 1) {
            throw new IllegalArgumentException("Limits are positive, got " + maxBytes + " bytes and " + maxPixels + " pixels.");
        }
        // Files and pictures are Java arrays while they are decoded.
        maxBytes = Math.min(maxBytes, Integer.MAX_VALUE - 64);
        maxPixels = Math.min(maxPixels, (Integer.MAX_VALUE - 64) / 4);
    }
}
