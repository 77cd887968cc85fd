package io.kinema.engine.layout;

/**
 * The latents that a request generates.
 *
 * @param frames       video latent frames
 * @param height       latent rows
 * @param width        latent columns
 * @param audioLatents audio latents per channel
 */
public record Target(int frames, int height, int width, int audioLatents) {
    public Target {
        if (frames < 1 || height < 1 || width < 1 || audioLatents < 1) {
            throw new IllegalArgumentException("target: got " + frames + " frames of " + height + " x " + width + " latents and "
                    + audioLatents + " audio latents, expected 1 or more of each");
        }
    }
}
