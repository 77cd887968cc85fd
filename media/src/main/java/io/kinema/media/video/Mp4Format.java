package io.kinema.media.video;

import io.kinema.media.BadMediaException;
import java.util.Map;

/**
 * What an MP4 file will hold.
 *
 * @param width pixels, even, at least 16
 * @param height pixels, even, at least 16
 * @param frames the exact number of pictures that will be written, at least 1
 * @param frameRate pictures per second
 * @param sampleRate samples per second of the stereo sound
 * @param metadata text tags of the file, any keys
 */
public record Mp4Format(int width, int height, int frames, int frameRate, int sampleRate, Map<String, String> metadata) {

    private static final int SMALLEST_SIDE = 16;

    public Mp4Format {
        if (width < SMALLEST_SIDE || height < SMALLEST_SIDE || width % 2 != 0 || height % 2 != 0) {
            throw new BadMediaException("Cannot write an MP4 of " + width + "x" + height + ": H.264 4:2:0 needs even sides of "
                    + SMALLEST_SIDE + " or more.");
        }
        if (frames < 1 || frameRate < 1 || sampleRate < 1) {
            throw new BadMediaException("Cannot write an MP4 of " + frames + " frames at " + frameRate + " fps with sound at "
                    + sampleRate + " Hz: each must be at least 1.");
        }
        metadata = Map.copyOf(metadata);
    }

    /** The engine's own rates: 24 pictures and 32,000 samples a second; no tags. */
    public static Mp4Format of(int width, int height, int frames) {
        return new Mp4Format(width, height, frames, 24, 32_000, Map.of());
    }

    /** The same file with these tags. */
    public Mp4Format withMetadata(Map<String, String> tags) {
        return new Mp4Format(width, height, frames, frameRate, sampleRate, tags);
    }
}
