package io.kinema.media.ffmpeg;

/** An FFmpeg function failed; the callers who know the file turn it into a {@code BadMediaException} that names it. */
public final class FFmpegException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final int code;
    private final String reason;

    FFmpegException(String doing, int code, String reason) {
        super("FFmpeg failed while " + doing + ": " + reason + " (" + code + ").");
        this.code = code;
        this.reason = reason;
    }

    /** FFmpeg's own (negative) code. */
    public int code() {
        return code;
    }

    /** FFmpeg's own text for the code. */
    public String reason() {
        return reason;
    }
}
