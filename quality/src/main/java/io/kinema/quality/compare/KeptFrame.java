package io.kinema.quality.compare;

import io.kinema.media.image.RgbImage;
import io.kinema.quality.picture.FrameComparison.Score;

/**
 * A pair of frames that a report shows.
 *
 * @param index     of the frame
 * @param reason    why it is shown
 * @param score     its numbers
 * @param candidate its picture in one result
 * @param reference and in the other
 */
public record KeptFrame(int index, String reason, Score score, RgbImage candidate, RgbImage reference) {
    KeptFrame because(String other) {
        return new KeptFrame(index, other, score, candidate, reference);
    }
}
