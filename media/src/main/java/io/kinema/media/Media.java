package io.kinema.media;

import io.kinema.media.ffmpeg.FFmpeg;

/** Start-up of the media room. */
public final class Media {

    private Media() {
    }

    /**
     * Begins loading the FFmpeg libraries on a background thread and returns at once.
     *
     * <p>Loading takes a few tenths of a second the first time (the libraries are unpacked into a cache folder) and about half of
     * that later; started early it costs a request nothing. Calling it is optional, and calling it again is harmless. A failure
     * is reported by the first reader or writer that needs FFmpeg, not here.
     */
    public static void preload() {
        FFmpeg.preload();
    }
}
