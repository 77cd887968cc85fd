package io.kinema.quality.picture;

import io.kinema.media.image.RgbImage;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * Finds frames that only repeat the frame before them, and clips in which nothing ever changes.
 *
 * <p>A repeat has the same bytes as its predecessor, in a clip of which at least half of the frames do move; in one that stands still,
 * repeats are no fault. Keeps one frame and its numbers. For one thread.
 */
public final class RepeatDetector {
    private final List<Integer> equal = new ArrayList<>();
    private Optional<RgbImage> last = Optional.empty();
    private int frames;

    /** Takes the next frame. */
    public void add(RgbImage frame) {
        if (last.isPresent() && Arrays.equals(last.get().rgb(), frame.rgb())) {
            equal.add(frames);
        }
        last = Optional.of(frame);
        frames++;
    }

    /** Indexes of frames equal to the one before, in order; empty for a clip that mostly stands still. */
    public List<Integer> repeats() {
        return 2 * equal.size() >= frames ? List.of() : List.copyOf(equal);
    }

    /** Whether there are at least two frames and all are equal. */
    public boolean isConstant() {
        return frames > 1 && equal.size() == frames - 1;
    }
}
