package io.kinema.jobs;

import java.util.List;

/**
 * Some of the jobs.
 *
 * @param jobs in the order asked for
 * @param more whether others follow; ask with {@link JobQuery#after()} the last one here
 */
public record JobPage(List<Job> jobs, boolean more) {
    public JobPage {
        jobs = List.copyOf(jobs);
    }
}
