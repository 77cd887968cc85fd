package io.kinema.engine.prompt;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.List;

/** When the frames that the text encoder sees of a reference video were taken, and how a presentation spells it. */
public final class VideoTimes {
    /** Frames a second at which the text encoder reads a reference video. */
    public static final double SAMPLE_FPS = 2;

    private VideoTimes() {
    }

    /**
     * Mean time of every group of {@code group} sampled frames; the last frame is repeated to fill the last group.
     *
     * @param frames number of sampled frames, 1 or more
     * @param group  frames that the vision encoder merges (its temporal patch size)
     * @return seconds, frame i taken at {@code i / 2}
     */
    public static List<Double> ofPairs(int frames, int group) {
        if (frames < 1 || group < 1) {
            throw new IllegalArgumentException("video times: got " + frames + " frames in groups of " + group + ", expected 1 or more of both");
        }
        List<Double> times = new ArrayList<>();
        for (int first = 0; first < frames; first += group) {
            int last = Math.min(first + group - 1, frames - 1);
            times.add((first / SAMPLE_FPS + last / SAMPLE_FPS) / 2);
        }
        return times;
    }

    /** {@code "<t seconds>"} with one decimal, rounded half to even from the exact binary value: 0.25 gives 0.2. */
    public static String label(double seconds) {
        return "<" + new BigDecimal(seconds).setScale(1, RoundingMode.HALF_EVEN).toPlainString() + " seconds>";
    }
}
