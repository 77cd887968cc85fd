package io.kinema.jobs.service;

import static org.assertj.core.api.Assertions.assertThat;

import io.kinema.engine.GenerateRequest;
import io.kinema.jobs.Attempts;
import io.kinema.jobs.Job;
import io.kinema.jobs.JobId;
import io.kinema.jobs.JobLimits;
import io.kinema.jobs.JobQuery;
import io.kinema.jobs.JobState;
import io.kinema.jobs.JobStore;
import io.kinema.jobs.Submission;
import io.kinema.jobs.WorkerStatus;
import io.kinema.jobs.process.FakeEngine;
import io.kinema.jobs.sql.DatabaseUrl;
import io.kinema.jobs.storage.FolderStorage;
import io.kinema.jobs.worker.WorkerOptions;
import io.kinema.jobs.worker.WorkerTimes;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Store, scheduler and worker together, on the embedded database. */
class QueueServiceTest {
    static final Duration A_WHILE = Duration.ofMinutes(5);
    /** A worker that a busy machine holds up for long is not lost. */
    static final WorkerTimes TIMES = lostAfterFour(Duration.ofMinutes(1));

    /** @param beats between two signs of life */
    static WorkerTimes lostAfterFour(Duration beats) {
        return new WorkerTimes(A_WHILE, A_WHILE, A_WHILE, Duration.ofSeconds(2), Duration.ofMillis(100), A_WHILE, Duration.ofMillis(50), beats);
    }

    @TempDir
    private Path folder;

    private QueueOptions options() {
        return QueueOptions.of(DatabaseUrl.inFolder(folder), FolderStorage.open(folder.resolve("storage"))).limits(new JobLimits(100, 100, Duration.ofDays(1)));
    }

    private QueueService withWorker() {
        return QueueService.open(options().worker(new WorkerOptions("fake", FakeEngine.launcher(1), folder.resolve("work"), 1, TIMES)));
    }

    private static JobId submit(JobStore jobs, String prompt) {
        return jobs.submit(Submission.of("fake", GenerateRequest.prompt(prompt).build())).job().id();
    }

    static Job finished(JobStore jobs, JobId id) throws InterruptedException {
        Job job = jobs.get(id).orElseThrow();
        while (!job.state().finished()) {
            Job next = jobs.await(id, job.revision(), A_WHILE).orElseThrow();
            assertThat(next.revision()).as("nothing happened for minutes: " + job).isGreaterThan(job.revision());
            job = next;
        }
        return job;
    }

    @Test
    void jobsAreMadeInTheOrderOfRecording() throws Exception {
        List<JobId> ids = new ArrayList<>();
        try (QueueService before = QueueService.open(options())) {
            assertThat(before.worker().state()).isEqualTo(WorkerStatus.State.NONE);
            for (int i = 0; i < 12; i++) {
                ids.add(submit(before.jobs(), "job " + i));
            }
        }
        try (QueueService service = withWorker()) {
            List<Instant> starts = new ArrayList<>();
            for (JobId id : ids) {
                Job job = finished(service.jobs(), id);
                assertThat(job.state()).isEqualTo(JobState.COMPLETED);
                starts.add(job.startedAt().orElseThrow());
            }
            assertThat(starts).isSorted().doesNotHaveDuplicates();
        }
    }

    @Test
    void oneIsMadeAfterACrashBeforeThoseThatCameLater() throws Exception {
        try (QueueService service = withWorker()) {
            JobId poison = submit(service.jobs(), "a crash-at=DENOISING/0");
            JobId next = submit(service.jobs(), "b");
            Job quarantined = finished(service.jobs(), poison);
            assertThat(quarantined.state()).isEqualTo(JobState.QUARANTINED);
            Job done = finished(service.jobs(), next);
            assertThat(done.state()).isEqualTo(JobState.COMPLETED);
            assertThat(done.startedAt().orElseThrow()).isAfterOrEqualTo(quarantined.finishedAt().orElseThrow());
        }
    }

    @Test
    void stoppingGivesTheRunningJobBackAndTheNextLifeGoesOn() throws Exception {
        JobId running;
        JobId waiting;
        Path gate = Files.writeString(folder.resolve("gate"), "");
        try (QueueService service = withWorker()) {
            running = submit(service.jobs(), "a steps=6 hold-at=DENOISING/3:" + gate.toUri());
            waiting = submit(service.jobs(), "b");
            Job job = service.jobs().get(running).orElseThrow();
            while (job.progress().step() < 3) {
                job = service.jobs().await(running, job.revision(), A_WHILE).orElseThrow();
            }
        }
        Files.delete(gate);
        try (QueueService service = QueueService.open(options())) {
            assertThat(service.jobs().get(running).orElseThrow().state()).isEqualTo(JobState.QUEUED);
            assertThat(service.jobs().get(waiting).orElseThrow().state()).isEqualTo(JobState.QUEUED);
        }
        try (QueueService service = withWorker()) {
            Job done = finished(service.jobs(), running);
            assertThat(done.state()).isEqualTo(JobState.COMPLETED);
            assertThat(done.progress().resumedAtStep()).isGreaterThanOrEqualTo(3);
            assertThat(done.attempts()).isEqualTo(new Attempts(2, 0, 0));
            assertThat(finished(service.jobs(), waiting).state()).isEqualTo(JobState.COMPLETED);
        }
    }

    @Test
    void aJobOfAnotherModelWaitsForItsWorkers() throws Exception {
        try (QueueService service = withWorker()) {
            JobId other = service.jobs().submit(Submission.of("another", GenerateRequest.prompt("x").build())).job().id();
            JobId ours = submit(service.jobs(), "y");
            assertThat(finished(service.jobs(), ours).state()).isEqualTo(JobState.COMPLETED);
            assertThat(service.jobs().get(other).orElseThrow().state()).isEqualTo(JobState.QUEUED);
            assertThat(service.jobs().list(new JobQuery(Optional.empty(), JobQuery.Order.OLDEST_FIRST, Optional.empty(), 5)).jobs()).hasSize(2);
        }
    }

    @Test
    void cancelAndDeleteReachTheWorker() throws Exception {
        try (QueueService service = withWorker()) {
            JobId running = submit(service.jobs(), "a steps=100000 step-ms=20");
            JobId next = submit(service.jobs(), "b");
            Job job = service.jobs().get(running).orElseThrow();
            while (job.progress().step() < 1) {
                job = service.jobs().await(running, job.revision(), A_WHILE).orElseThrow();
            }
            service.jobs().cancel(running);
            assertThat(finished(service.jobs(), running).state()).isEqualTo(JobState.CANCELLED);
            assertThat(finished(service.jobs(), next).state()).isEqualTo(JobState.COMPLETED);
            service.jobs().delete(running);
            assertThat(service.jobs().get(running)).isEmpty();
        }
    }
}
