package io.kinema.engine.layout;

/**
 * The lengths that belong to a clip: pixel frames, video latent frames and audio latents.
 * The video VAE takes {@code framesPerChunk * n + latentsPerChunk} frames and makes {@code latentsPerChunk * n + 2} latent
 * frames of them (released: 17 n + 5 and 5 n + 2). The clip runs at 24 frames and 40 audio latents per channel a second.
 *
 * @param framesPerChunk  pixel frames that a chunk of the video VAE takes (its clip length)
 * @param latentsPerChunk latent frames that a chunk keeps
 */
public record FrameCounts(int framesPerChunk, int latentsPerChunk) {
    /** Frames a second of every H3 clip. */
    public static final int FPS = 24;
    /** Audio latents a second and channel. */
    public static final int AUDIO_LATENTS_PER_SECOND = 40;
    /** The counts of the released video VAE. */
    public static final FrameCounts RELEASED = new FrameCounts(17, 5);

    public FrameCounts {
        if (latentsPerChunk < 1 || framesPerChunk <= latentsPerChunk) {
            throw new IllegalArgumentException("frame counts: got " + framesPerChunk + " frames and " + latentsPerChunk
                    + " latents a chunk, expected 1 <= latents < frames");
        }
    }

    /** The smallest count of the VAE's form that is not below {@code frames}. @throws IllegalArgumentException when not positive or past 2^31 - 1 */
    public int align(int frames) {
        if (frames < 1) {
            throw new IllegalArgumentException("frames: got " + frames + ", expected a positive count");
        }
        long chunks = Math.max(0, Math.ceilDiv(frames - (long) latentsPerChunk, framesPerChunk));
        long aligned = chunks * framesPerChunk + latentsPerChunk;
        if (aligned > Integer.MAX_VALUE) {
            throw new IllegalArgumentException("frames: got " + frames + ", expected at most " + Integer.MAX_VALUE + " after alignment");
        }
        return (int) aligned;
    }

    /** True when {@code frames} already has the VAE's form. */
    public boolean aligned(int frames) {
        return frames >= 1 && align(frames) == frames;
    }

    /** Video latent frames of an aligned count. @throws IllegalArgumentException when it is not aligned */
    public int videoLatents(int frames) {
        if (!aligned(frames)) {
            throw new IllegalArgumentException("frames: got " + frames + ", expected " + framesPerChunk + "n+" + latentsPerChunk
                    + ", the next is " + align(frames));
        }
        return (frames - latentsPerChunk) / framesPerChunk * latentsPerChunk + 2;
    }

    /** The aligned count that {@code videoLatents} latent frames stand for, the inverse of {@link #videoLatents}. */
    public int frames(int videoLatents) {
        if (videoLatents < 2 || (videoLatents - 2) % latentsPerChunk != 0) {
            throw new IllegalArgumentException("latent frames: got " + videoLatents + ", expected " + latentsPerChunk + "n+2");
        }
        return Math.addExact(Math.multiplyExact((videoLatents - 2) / latentsPerChunk, framesPerChunk), latentsPerChunk);
    }

    /** Audio latents per channel that cover {@code frames}: frames / 24 * 40 in float64, rounded half to even. */
    public static int audioLatents(int frames) {
        return (int) Math.rint((double) frames / FPS * AUDIO_LATENTS_PER_SECOND);
    }
}
