package io.kinema.serve.body;

import java.time.Duration;
import java.util.Objects;

/**
 * How much a request body may hold.
 *
 * @param jsonBytes      largest JSON body; data addresses count
 * @param formBytes      largest urlencoded body
 * @param multipartBytes largest multipart body
 * @param fileBytes      largest part that is a file
 * @param textBytes      largest part that is a field
 * @param files          most files
 * @param fields         most fields
 * @param patience       time in which a body must come, whatever its size
 * @param bytesPerSecond a longer body has a second more for each so many bytes
 * @param largeAtOnce    bodies beyond {@link #LARGE} that are read at the same time
 */
public record BodyLimits(long jsonBytes, long formBytes, long multipartBytes, long fileBytes, int textBytes, int files, int fields,
                         Duration patience, long bytesPerSecond, int largeAtOnce) {
    /** A body beyond these bytes takes one of the places for large ones. */
    public static final long LARGE = 256 << 10;
    private static final BodyLimits DEFAULTS = new BodyLimits(32 << 20, 1 << 20, 200 << 20, 50 << 20, 1 << 20, 12, 64,
            Duration.ofSeconds(20), 64 << 10, 4);

    public BodyLimits {
        Objects.requireNonNull(patience, "patience");
    }

    /** 32 MiB of JSON, 200 MiB of multipart with 12 files of 50 MiB and 64 fields; 20 s and 64 KiB/s at least; 4 large ones at once. */
    public static BodyLimits defaults() {
        return DEFAULTS;
    }
}
