package io.kinema.jobs;

import io.kinema.jobs.storage.OutputStorage;
import io.kinema.jobs.storage.StorageKey;
import java.util.List;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;

/** Where the files of a job lie in the storage. */
public final class JobFiles {
    private static final String INPUTS = "inputs";
    private static final String OUTPUTS = "outputs";
    private static final String STEPS = "steps";

    private JobFiles() {
    }

    /** The prefix of a job's inputs. */
    public static StorageKey inputs(JobId id) {
        return StorageKey.of(INPUTS, id.value());
    }

    /** A file of an output. Each attempt has its own, so that a worker that was given up cannot write over another's. */
    public static StorageKey output(JobId id, int attempt, int index, OutputFile kind) {
        return StorageKey.of(OUTPUTS, id.value(), attempt + "-" + index, kind.fileName());
    }

    /** The sampler's state after the last saved step. */
    public static StorageKey steps(JobId id) {
        return StorageKey.of(STEPS, id.value(), "steps.safetensors");
    }

    /** Removes everything that is stored of a job. */
    public static void deleteAll(OutputStorage storage, JobId id) {
        for (String kind : List.of(INPUTS, OUTPUTS, STEPS)) {
            storage.deleteAll(StorageKey.of(kind, id.value()));
        }
    }

    /** Every job of which something is stored. */
    public static SortedSet<JobId> jobs(OutputStorage storage) {
        SortedSet<JobId> ids = new TreeSet<>();
        for (String kind : List.of(INPUTS, OUTPUTS, STEPS)) {
            storage.children(new StorageKey(kind)).stream().map(JobId::parse).flatMap(Optional::stream).forEach(ids::add);
        }
        return ids;
    }
}
