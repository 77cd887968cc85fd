package io.kinema.engine.prompt;

import java.util.List;

/** What one reference of a ref2va request puts in front of the prompt. */
public sealed interface PromptReference {
    /** A picture: {@code "<Picture i>: "} and its vision block. @param grid one temporal patch */
    record Image(VisionGrid grid) implements PromptReference {
        public Image {
            if (grid.frames() != 1) {
                throw new IllegalArgumentException("picture: got a grid of " + grid.frames() + " temporal patches, expected 1");
            }
        }
    }

    /**
     * A video: {@code "<Audio j>: "} when its sound is used, {@code "<Video k>: "}, then for every merged frame pair
     * {@code "<t seconds>"} and a vision block.
     *
     * @param grid       as many temporal patches as there are times
     * @param timestamps seconds of every merged frame pair, see {@link VideoTimes#ofPairs}
     * @param sound      whether its soundtrack is a reference too
     */
    record Video(VisionGrid grid, List<Double> timestamps, boolean sound) implements PromptReference {
        public Video {
            timestamps = List.copyOf(timestamps);
            if (grid.frames() != timestamps.size()) {
                throw new IllegalArgumentException("video: got " + grid.frames() + " merged frame pairs and " + timestamps.size()
                        + " timestamps, expected the same number");
            }
        }
    }

    /** A sound clip: {@code "<Audio j>: "} alone; the text encoder hears nothing. */
    record Audio() implements PromptReference {
    }
}
