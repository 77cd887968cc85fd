package io.kinema.engine.prompt;

/**
 * The vision encoder's patch grid of one picture or video, before its spatial merge: {@code image_grid_thw} and
 * {@code video_grid_thw} of the reference.
 *
 * @param frames temporal patches: 1 for a picture, merged frame pairs for a video
 * @param height rows of patches
 * @param width  columns of patches
 */
public record VisionGrid(int frames, int height, int width) {
    public VisionGrid {
        if (frames < 1 || height < 1 || width < 1) {
            throw new IllegalArgumentException("vision grid: got (" + frames + ", " + height + ", " + width + "), expected positive sizes");
        }
    }

    /** Tokens of one temporal patch after merging {@code merge x merge} patches. @throws IllegalArgumentException when the sides are no multiples of {@code merge} */
    int tokensPerFrame(int merge) {
        if (height % merge != 0 || width % merge != 0) {
            throw new IllegalArgumentException("vision grid: got " + height + " x " + width + " patches, expected multiples of the merge size " + merge);
        }
        return Math.multiplyExact(height / merge, width / merge);
    }
}
