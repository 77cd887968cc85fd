package io.kinema.quality.compare;

import io.kinema.media.container.MediaLimits;
import java.time.Duration;

/** What files given on one's own command line may cost to read: far more than a request's references. */
final class Limits {
    /** 64 GiB, 8K pictures, six hours, 2^27 samples (a sound is held in memory), six hours of work; pictures are read as a stream. */
    static final MediaLimits LONG = new MediaLimits(64L << 30, 8192L * 4352, 6 * 3600, 6L * 3600 * 120, 1L << 27, Duration.ofHours(6));

    private Limits() {
    }
}
