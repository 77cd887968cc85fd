package io.kinema.engine.preprocess;

import io.kinema.engine.BadRequestException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * The frames of a reference video that the text encoder sees.
 *
 * @param indices frame numbers, each once, in order
 * @param blockTimestamps seconds, one for each merged group of frames: the mean of its first and last
 */
public record ConditionerFrames(List<Integer> indices, List<Double> blockTimestamps) {

    public ConditionerFrames {
        indices = List.copyOf(indices);
        blockTimestamps = List.copyOf(blockTimestamps);
    }

    /**
     * Samples every {@code fps / sampleFps}-th frame, positions rounded half to even. The vision encoder merges groups of
     * {@code temporalPatch}, the last frame repeated to fill the last group.
     *
     * @param frames frames of the video at {@code fps}
     * @throws BadRequestException if they do not make one group
     */
    public static ConditionerFrames sample(int frames, double fps, double sampleFps, int temporalPatch) {
        double stride = fps / sampleFps;
        List<Integer> indices = new ArrayList<>();
        for (double cursor = 0; Math.rint(cursor) < frames; cursor += stride) {
            int index = (int) Math.rint(cursor);
            if (indices.isEmpty() || index > indices.getLast()) {
                indices.add(index);
            }
        }
        if (indices.size() < temporalPatch) {
            int least = leastFrames(fps, sampleFps, temporalPatch);
            throw new BadRequestException("references", "a video of " + frames + " frames", String.format(Locale.ROOT,
                    "expected at least %d at %s frames a second (%.2f s); choose a longer one", least, fps, least / fps));
        }
        return new ConditionerFrames(indices, timestamps(indices.size(), sampleFps, temporalPatch));
    }

    /** The fewest frames of which {@link #sample} makes one group. */
    public static int leastFrames(double fps, double sampleFps, int temporalPatch) {
        return (int) Math.rint((temporalPatch - 1) * fps / sampleFps) + 1;
    }

    private static List<Double> timestamps(int samples, double sampleFps, int group) {
        List<Double> times = new ArrayList<>();
        for (int first = 0; first < samples; first += group) {
            int last = Math.min(first + group, samples) - 1;
            times.add((first / sampleFps + last / sampleFps) / 2);
        }
        return times;
    }
}
