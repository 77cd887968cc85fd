package io.kinema.jobs;

import io.kinema.jobs.storage.StoredFile;
import java.util.Map;
import java.util.Optional;

/**
 * A finished output of a job. It is listed once all its files are stored, also while later outputs of the job are still made.
 *
 * @param index 0 to outputs - 1
 * @param seed  its own: the request's plus {@code index}
 * @param files what is stored of it
 */
public record JobOutput(int index, long seed, Map<OutputFile, StoredFile> files) {
    public JobOutput {
        files = Map.copyOf(files);
    }

    /** One of its files. */
    public Optional<StoredFile> file(OutputFile kind) {
        return Optional.ofNullable(files.get(kind));
    }
}
