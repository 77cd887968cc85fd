package io.kinema.model.text;

/**
 * A picture or video as the vision tower sees it, in patches.
 *
 * @param frames patches in time; 1 for a picture
 * @param height patches from top to bottom, a multiple of the merge size
 * @param width  patches from left to right, a multiple of the merge size
 */
public record PatchGrid(int frames, int height, int width) {
    public PatchGrid {
        if (frames < 1 || height < 1 || width < 1) {
            throw new IllegalArgumentException("vision grid: got " + frames + "x" + height + "x" + width + ", expected sizes of at least 1");
        }
    }

    /** All patches. */
    public int patches() {
        return Math.multiplyExact(Math.multiplyExact(frames, height), width);
    }
}
