package io.kinema.media.container;

import java.time.Duration;

/**
 * What a video or sound file may cost to read.
 *
 * @param maxBytes largest file
 * @param maxPixels largest width times height of a picture
 * @param maxSeconds longest duration
 * @param maxFrames most pictures of a video
 * @param maxSamples most samples of a sound, all channels together
 * @param maxWork longest time that reading and decoding may take; it ends between two packets, and one packet's work is
 *     bounded by {@code maxPixels}
 */
public record MediaLimits(long maxBytes, long maxPixels, double maxSeconds, long maxFrames, long maxSamples, Duration maxWork) {

    private static final long MOST_FRAMES = 600 * 120;
    private static final long MOST_SAMPLES = 1L << 27;
    private static final Duration LONGEST_WORK = Duration.ofMinutes(5);

    /**
     * 512 MiB, 8K pictures, ten minutes at 120 frames a second, 2^27 samples (ten minutes of stereo at 96 kHz), five minutes of
     * work: a bound on cost, not the rules of a request.
     */
    public static final MediaLimits DEFAULT = new MediaLimits(512L << 20, 8192L * 4352, 600);

    public MediaLimits {
        if (maxBytes < 1 || maxPixels < 1 || !(maxSeconds > 0) || maxFrames < 1 || maxSamples < 1 || !maxWork.isPositive()) {
            throw new IllegalArgumentException("Limits are positive, got " + maxBytes + " bytes, " + maxPixels + " pixels, "
                    + maxSeconds + " s, " + maxFrames + " frames, " + maxSamples + " samples, " + maxWork + ".");
        }
    }

    /** These limits, and the default ones of frames, samples and work. */
    public MediaLimits(long maxBytes, long maxPixels, double maxSeconds) {
        this(maxBytes, maxPixels, maxSeconds, MOST_FRAMES, MOST_SAMPLES, LONGEST_WORK);
    }

    /** The same limits with this much work. */
    public MediaLimits within(Duration work) {
        return new MediaLimits(maxBytes, maxPixels, maxSeconds, maxFrames, maxSamples, work);
    }
}
