package io.kinema.engine.layout;

/**
 * The axes of one video latent (C, T, H, W), row-major in memory.
 *
 * @param channels latent channels, from the video VAE's configuration
 * @param frames   latent frames
 * @param height   rows of latent pixels (canvas height / the VAE's spatial compression)
 * @param width    columns of latent pixels
 */
public record LatentShape(int channels, int frames, int height, int width) {
    public LatentShape {
        if (channels < 1 || frames < 1 || height < 1 || width < 1 || (long) channels * frames * height * width > Integer.MAX_VALUE) {
            throw new IllegalArgumentException("latent shape: got (" + channels + ", " + frames + ", " + height + ", " + width
                    + "), expected four positive sizes with at most 2^31 - 1 elements");
        }
    }

    /** C * T * H * W. */
    public int elements() {
        return channels * frames * height * width;
    }

    /** The same latent with another number of frames. */
    public LatentShape withFrames(int count) {
        return new LatentShape(channels, count, height, width);
    }

    @Override
    public String toString() {
        return "(" + channels + ", " + frames + ", " + height + ", " + width + ")";
    }
}
