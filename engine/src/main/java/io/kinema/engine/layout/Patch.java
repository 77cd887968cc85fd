package io.kinema.engine.layout;

import io.kinema.compute.Tensor;

/**
 * How latent pixels become rows of the transformer: a row is one block of {@code frames x height x width} latent pixels over
 * all channels. Rows run frame by frame, then top to bottom, then left to right; inside a row the order is
 * (channel, frame, y, x), so a row has {@code channels * frames * height * width} values (96 for the released (1, 2, 2)).
 *
 * @param frames latent frames in a block
 * @param height latent rows in a block
 * @param width  latent columns in a block
 */
public record Patch(int frames, int height, int width) {
    public Patch {
        if (frames < 1 || height < 1 || width < 1) {
            throw new IllegalArgumentException("patch: got (" + frames + ", " + height + ", " + width + "), expected positive sizes");
        }
    }

    /** Rows of one latent of this shape. @throws IllegalArgumentException when the patch does not divide it */
    public int rows(LatentShape latent) {
        requireDivides(latent);
        return (latent.frames() / frames) * rowsPerFrame(latent.height(), latent.width());
    }

    /** Rows of one block of latent frames. */
    public int rowsPerFrame(int latentHeight, int latentWidth) {
        return (latentHeight / height) * (latentWidth / width);
    }

    /** Values in a row. */
    public int rowWidth(int channels) {
        return channels * frames * height * width;
    }

    /** (C, T, H, W) latents to rows (R, rowWidth). A new array. */
    public float[] patchify(float[] latents, LatentShape shape) {
        requireLength("latents", latents, shape);
        float[] rows = new float[latents.length];
        int[] index = rowOrder(shape);
        for (int i = 0; i < rows.length; i++) {
            rows[i] = latents[index[i]];
        }
        return rows;
    }

    /** Rows (R, rowWidth) back to (C, T, H, W) latents. A new array. */
    public float[] unpatchify(float[] rows, LatentShape shape) {
        requireLength("rows", rows, shape);
        float[] latents = new float[rows.length];
        int[] index = rowOrder(shape);
        for (int i = 0; i < rows.length; i++) {
            latents[index[i]] = rows[i];
        }
        return latents;
    }

    /**
     * A view of rows as the latent they came from, without copying, with split axes
     * (C, T/pt, pt, H/ph, ph, W/pw, pw): copying it into a contiguous (C, T, H, W) tensor is unpatchify on any device.
     *
     * @param rows contiguous (R, rowWidth)
     */
    public Tensor latentView(Tensor rows, LatentShape shape) {
        requireDivides(shape);
        return rows.reshape(shape.frames() / frames, shape.height() / height, shape.width() / width,
                shape.channels(), frames, height, width).permute(3, 0, 4, 1, 5, 2, 6);
    }

    /** For every value of the packed rows, its place in the (C, T, H, W) latent. */
    private int[] rowOrder(LatentShape s) {
        requireDivides(s);
        int[] index = new int[s.elements()];
        int at = 0;
        for (int t = 0; t < s.frames(); t += frames) {
            for (int y = 0; y < s.height(); y += height) {
                for (int x = 0; x < s.width(); x += width) {
                    at = rowOrder(s, t, y, x, index, at);
                }
            }
        }
        return index;
    }

    private int rowOrder(LatentShape s, int t, int y, int x, int[] index, int start) {
        int at = start;
        for (int c = 0; c < s.channels(); c++) {
            for (int dt = 0; dt < frames; dt++) {
                for (int dy = 0; dy < height; dy++) {
                    int line = ((c * s.frames() + t + dt) * s.height() + y + dy) * s.width() + x;
                    for (int dx = 0; dx < width; dx++) {
                        index[at++] = line + dx;
                    }
                }
            }
        }
        return at;
    }

    private void requireDivides(LatentShape s) {
        if (s.frames() % frames != 0 || s.height() % height != 0 || s.width() % width != 0) {
            throw new IllegalArgumentException("latent " + s + ": expected frames, height and width that are multiples of the patch ("
                    + frames + ", " + height + ", " + width + ")");
        }
    }

    private static void requireLength(String name, float[] values, LatentShape shape) {
        if (values.length != shape.elements()) {
            throw new IllegalArgumentException(name + ": got " + values.length + " values, expected " + shape.elements() + " for " + shape);
        }
    }
}
