package io.kinema.model.video;

/**
 * How frames and latent frames correspond. The encoder reads clips of {@code clipLength} frames and drops the last
 * {@code tokenDrop} latent frames of the whole; the decoder makes up for the drop by decoding chunks that overlap and
 * cross-fading them. A clip is not a whole number of latent frames: its first latent frame covers fewer frames.
 *
 * @param clipLength    frames of an encoded clip
 * @param temporalRatio frames per latent frame
 * @param tokenDrop     latent frames dropped at the end, less than {@link #tokensPerChunk()}
 */
public record ClipTiming(int clipLength, int temporalRatio, int tokenDrop) {
    /** Latent frames of an encoded clip, which is how far decoded chunks advance. */
    public int tokensPerChunk() {
        return Math.ceilDiv(clipLength, temporalRatio);
    }

    /** Latent frames that a decoded chunk shares with the next one. */
    public int tokenOverlap() {
        return Math.floorMod(-tokenDrop, tokensPerChunk());
    }

    /** Latent frames that are decoded together. */
    public int tokensPerClip() {
        return tokensPerChunk() + tokenOverlap();
    }

    /** Decoded frames in front of every chunk that stand for no frame of the clip. */
    public int framePrePadding() {
        return Math.floorMod(-clipLength, temporalRatio);
    }

    /** Frames over which two chunks are cross-faded; 0 when nothing was dropped. */
    public int frameOverlap() {
        return Math.max(tokenOverlap() * temporalRatio - framePrePadding(), 0);
    }

    /** Fewest latent frames that make a chunk. */
    public int minimumLatentFrames() {
        return tokenDrop == 0 ? 1 : tokensPerChunk() - tokenDrop + 1;
    }

    /** Clips that {@code frames} are encoded in; the last is filled by repeating the last frame. */
    public int clips(int frames) {
        return Math.ceilDiv(frames, clipLength);
    }

    /** Latent frames that {@code frames} encode to: one for a picture, 5n + 2 for 17n + 5 in the released geometry. */
    public int latentFrames(int frames) {
        return frames == 1 ? 1 : clips(frames) * tokensPerChunk() - tokenDrop;
    }

    /** Chunks that {@code latentFrames} are decoded in. */
    public int chunks(int latentFrames) {
        return (latentFrames + tokenDrop + padding(latentFrames)) / tokensPerChunk() - (tokenDrop > 0 ? 1 : 0);
    }

    /** Frames that {@code latentFrames} decode to. @throws IllegalArgumentException below {@link #minimumLatentFrames()} */
    public int frames(int latentFrames) {
        if (latentFrames < minimumLatentFrames()) {
            throw new IllegalArgumentException("video decode: got " + latentFrames + " latent frames, expected at least "
                    + minimumLatentFrames() + ", the fewest that make a chunk");
        }
        int whole = chunks(latentFrames) * clipLength + frameOverlap();
        return whole - paddedFrames(latentFrames);
    }

    /** Repeats of the last latent frame that fill the last chunk. */
    private int padding(int latentFrames) {
        return Math.floorMod(-(latentFrames + tokenDrop), tokensPerChunk());
    }

    /** Frames that the repeats decode to; they were never asked for. The last latent frame of a chunk covers fewer. */
    private int paddedFrames(int latentFrames) {
        int tail = clipLength % temporalRatio;
        int frames = 0;
        for (int k = 0; k < padding(latentFrames); k++) {
            boolean shortOne = tail != 0 && (latentFrames + k) % tokensPerChunk() == 0;
            frames += shortOne ? tail : temporalRatio;
        }
        return frames;
    }
}
