package io.kinema.model.text;

import io.kinema.compute.Tensor;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/**
 * Positions of every token on the three axes of M-RoPE (time, height, width).
 * Text counts up on all axes at once. A block of vision tokens starts where the text stands: its tokens lie on a
 * frames x height x width grid from there, and the text goes on after the grid's longer side. Each frame of a video is its
 * own block, because its timestamp is text in between.
 */
final class RopePositions {
    private final int[][] axes;

    private RopePositions(int length) {
        this.axes = new int[3][length];
    }

    static RopePositions of(TextEncoderConfig config, TextEncoderInput input) {
        int[] ids = input.ids();
        RopePositions positions = new RopePositions(ids.length);
        int merge = config.vision().merge();
        Iterator<PatchGrid> images = input.images().map(VisionInput::grids).orElse(List.of()).iterator();
        Iterator<PatchGrid> frames = singleFrames(input.videos().map(VisionInput::grids).orElse(List.of())).iterator();
        int next = 0;
        for (int i = 0; i < ids.length; ) {
            boolean image = ids[i] == config.imageToken();
            if (input.textOnly() || !image && ids[i] != config.videoToken()) {
                positions.set(i++, next, next, next++);
            } else {
                int end = runEnd(ids, i);
                PatchGrid grid = take(image ? images : frames, image ? "image" : "video", i);
                positions.block(i, end, next, grid, merge);
                next += Math.max(grid.height(), grid.width()) / merge;
                i = end;
            }
        }
        requireUsed(images, "image");
        requireUsed(frames, "video");
        return positions;
    }

    int at(int axis, int token) {
        return axes[axis][token];
    }

    int length() {
        return axes[0].length;
    }

    /** I32 [3, L], for a stage tap. */
    Tensor toTensor() {
        int[] all = new int[3 * length()];
        for (int axis = 0; axis < 3; axis++) {
            System.arraycopy(axes[axis], 0, all, axis * length(), length());
        }
        return Tensor.ofInts(all, 3, length());
    }

    private void set(int token, int t, int h, int w) {
        axes[0][token] = t;
        axes[1][token] = h;
        axes[2][token] = w;
    }

    private void block(int from, int to, int start, PatchGrid grid, int merge) {
        int height = grid.height() / merge;
        int width = grid.width() / merge;
        if (to - from != grid.frames() * height * width) {
            throw new IllegalArgumentException("text encoder input: got a run of " + (to - from) + " vision tokens at token " + from + ", expected "
                    + grid.frames() * height * width + " for " + grid);
        }
        for (int i = from; i < to; i++) {
            int inGrid = i - from;
            set(i, start + inGrid / (height * width), start + inGrid / width % height, start + inGrid % width);
        }
    }

    private static List<PatchGrid> singleFrames(List<PatchGrid> videos) {
        List<PatchGrid> frames = new ArrayList<>();
        for (PatchGrid video : videos) {
            for (int f = 0; f < video.frames(); f++) {
                frames.add(new PatchGrid(1, video.height(), video.width()));
            }
        }
        return frames;
    }

    private static int runEnd(int[] ids, int from) {
        int end = from;
        while (end < ids.length && ids[end] == ids[from]) {
            end++;
        }
        return end;
    }

    private static PatchGrid take(Iterator<PatchGrid> grids, String kind, int token) {
        if (!grids.hasNext()) {
            throw new IllegalArgumentException("text encoder input: got a run of " + kind + " tokens at token " + token + ", expected no more of them: every grid is used");
        }
        return grids.next();
    }

    private static void requireUsed(Iterator<PatchGrid> grids, String kind) {
        if (grids.hasNext()) {
            throw new IllegalArgumentException("text encoder input: got a " + kind + " " + grids.next() + " without tokens, expected a run of them in the text");
        }
    }
}
