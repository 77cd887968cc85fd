package io.kinema.media.container;

/**
 * What a video or sound file may cost to read.
 *
 * @param maxBytes largest file
 * @param maxPixels largest width times height of a picture
 * @param maxSeconds longest duration
 */
public record MediaLimits(long maxBytes, long maxPixels, double maxSeconds) {

    /** 512 MiB, 8K pictures, ten minutes: a bound on work, not the rules of a request. */
    public static final MediaLimits DEFAULT = new MediaLimits(512L << 20, 8192L * 4352, 600);

    public MediaLimits {
        if (maxBytes < 1 || maxPixels < 1 || !(maxSeconds > 0)) {
            throw new IllegalArgumentException("Limits are positive, got " + maxBytes + " bytes, " + maxPixels + " pixels, "
                    + maxSeconds + " s.");
        }
    }
}
