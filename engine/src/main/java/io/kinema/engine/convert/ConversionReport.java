package io.kinema.engine.convert;

import java.nio.file.Path;
import java.util.List;

/**
 * What was written.
 *
 * @param target where it stands
 * @param files  in name order, with what each is by content
 */
public record ConversionReport(Path target, List<Written> files) {
    /** The file of checksums, in the form that {@code sha256sum -c} reads. */
    public static final String CHECKSUMS = "SHA256SUMS";

    public ConversionReport {
        files = List.copyOf(files);
    }

    /**
     * One file.
     *
     * @param name   relative to the target, with slashes
     * @param bytes  size
     * @param sha256 hex, of what was read back after writing
     */
    public record Written(String name, long bytes, String sha256) {
    }

    /** Bytes of all files. */
    public long bytes() {
        return files.stream().mapToLong(Written::bytes).sum();
    }
}
