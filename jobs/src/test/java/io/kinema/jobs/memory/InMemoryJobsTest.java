package io.kinema.jobs.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.kinema.jobs.JobId;
import io.kinema.jobs.JobStoreContract;
import io.kinema.jobs.Lease;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class InMemoryJobsTest extends JobStoreContract {
    private InMemoryJobs jobs;

    @Override
    @SuppressWarnings("unchecked")
    protected InMemoryJobs open() {
        jobs = new InMemoryJobs(LIMITS, storage, clock);
        return jobs;
    }

    @Override
    protected void shut() {
    }

    @Test
    void turnsGoInTheOrderOfRecording() throws Exception {
        JobId first = jobs.submit(submission("1")).job().id();
        JobId second = jobs.submit(submission("2")).job().id();
        assertThat(jobs.next()).contains(first);
        Lease lease = jobs.begin(first).orElseThrow();
        assertThat(jobs.awaitNext(Duration.ofMinutes(1))).contains(second);
        jobs.crashed(lease);
        assertThat(jobs.next()).as("a job that waits again is first").contains(first);
    }
}
