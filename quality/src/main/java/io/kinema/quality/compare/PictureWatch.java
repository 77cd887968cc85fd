package io.kinema.quality.compare;

import io.kinema.media.image.RgbImage;
import io.kinema.quality.picture.FlashDetector;
import io.kinema.quality.picture.RepeatDetector;
import io.kinema.quality.picture.SeamDetector;

/** Shows the frames of one side to all detectors. For one thread at a time. */
final class PictureWatch {
    private final FlashDetector flashes = new FlashDetector();
    private final RepeatDetector repeats = new RepeatDetector();
    private final SeamDetector seams;

    PictureWatch(int width, int height) {
        seams = new SeamDetector(width, height);
    }

    void add(RgbImage frame) {
        flashes.add(FlashDetector.grid(frame));
        repeats.add(frame);
        seams.add(frame);
    }

    Faults.Pictures faults() {
        return new Faults.Pictures(flashes.flashes(), seams.seams(), seams.score(), repeats.repeats(), repeats.isConstant());
    }
}
