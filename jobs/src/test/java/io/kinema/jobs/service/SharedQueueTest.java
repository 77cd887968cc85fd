package io.kinema.jobs.service;

import static org.assertj.core.api.Assertions.assertThat;

import io.kinema.engine.GenerateRequest;
import io.kinema.jobs.Attempts;
import io.kinema.jobs.Job;
import io.kinema.jobs.JobId;
import io.kinema.jobs.JobState;
import io.kinema.jobs.OutputFile;
import io.kinema.jobs.Submission;
import io.kinema.jobs.sql.PostgresServer;
import io.kinema.jobs.storage.StorageKey;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Worker processes on one PostgreSQL, and what happens when one of them, or PostgreSQL itself, goes away. */
class SharedQueueTest {
    @TempDir
    private Path folder;
    private PostgresServer postgres;

    @BeforeEach
    void serve() throws Exception {
        Optional<Path> binaries = PostgresServer.binaries();
        Assumptions.assumeTrue(binaries.isPresent(), "no PostgreSQL server in /usr/lib/postgresql: apt-get install postgresql, or let ./check do so as root");
        postgres = PostgresServer.start(binaries.get());
    }

    @AfterEach
    void end() {
        if (postgres != null) {
            postgres.close();
        }
    }

    private QueueService submitter() {
        return QueueService.open(QueueProcess.options(folder, postgres.url()));
    }

    private static List<JobId> submit(QueueService service, int count) {
        List<JobId> ids = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            ids.add(service.jobs().submit(Submission.of("fake", GenerateRequest.prompt("job-" + i + " steps=4").build())).job().id());
        }
        return ids;
    }

    private static long completed(QueueService service) {
        return service.jobs().counts().of(JobState.COMPLETED);
    }

    private static void eachOnce(QueueService service, List<JobId> ids) throws Exception {
        int lost = 0;
        for (int i = 0; i < ids.size(); i++) {
            Job job = QueueServiceTest.finished(service.jobs(), ids.get(i));
            assertThat(job.state()).isEqualTo(JobState.COMPLETED);
            assertThat(job.attempts().crashed()).isZero();
            assertThat(job.attempts().begun()).isEqualTo(1 + job.attempts().lost());
            lost += job.attempts().lost();
            assertThat(job.outputs()).hasSize(1);
            StorageKey key = job.output(0).orElseThrow().file(OutputFile.VIDEO).orElseThrow().key();
            try (InputStream in = service.storage().read(key, 0, Long.MAX_VALUE).orElseThrow()) {
                assertThat(new String(in.readAllBytes(), StandardCharsets.UTF_8)).startsWith("job-" + i + " ").endsWith("[s0, s1, s2, s3]");
            }
        }
        assertThat(lost).as("jobs that the killed worker had").isLessThanOrEqualTo(1);
    }

    private void shared(int count) throws Exception {
        try (QueueService service = submitter();
                QueueProcess one = QueueProcess.start(folder, postgres.url(), 10);
                QueueProcess two = QueueProcess.start(folder, postgres.url(), 10)) {
            List<JobId> ids = submit(service, count);
            while (completed(service) < count / 2) {
                Thread.sleep(20);
            }
            one.handle().destroyForcibly();
            eachOnce(service, ids);
            assertThat(completed(service)).isEqualTo(count);
            assertThat(two.show(ids.getFirst())).startsWith("completed");
        }
    }

    @Test
    void twoWorkersShareJobsAndOneIsKilled() throws Exception {
        shared(16);
    }

    @Test
    @Tag("long")
    void twoWorkersShareAHundredJobsAndOneIsKilledHalfWay() throws Exception {
        shared(100);
    }

    @Test
    @Tag("long")
    void aRestartOfPostgresUnderAWorkerLosesNothing() throws Exception {
        try (QueueService service = submitter(); QueueProcess worker = QueueProcess.start(folder, postgres.url(), 30)) {
            List<JobId> ids = submit(service, 6);
            while (completed(service) < 2) {
                Thread.sleep(20);
            }
            postgres.down();
            Thread.sleep(1500);
            postgres.up();
            for (JobId id : ids) {
                Job job = QueueServiceTest.finished(service.jobs(), id);
                assertThat(job.state()).isEqualTo(JobState.COMPLETED);
                assertThat(job.outputs()).hasSize(1);
                assertThat(job.attempts().crashed()).isZero();
            }
            assertThat(worker.handle().isAlive()).isTrue();
        }
    }

    @Test
    @Tag("long")
    void aWorkerThatSleptTooLongDoesNotFinishAnothersJob() throws Exception {
        try (QueueService service = submitter(); QueueProcess sleeper = QueueProcess.start(folder, postgres.url(), 10)) {
            JobId id = service.jobs().submit(Submission.of("fake", GenerateRequest.prompt("slept steps=200 step-ms=20").build())).job().id();
            while (service.jobs().get(id).orElseThrow().progress().step() < 5) {
                Thread.sleep(20);
            }
            signal("STOP", sleeper);
            try (QueueProcess other = QueueProcess.start(folder, postgres.url(), 10)) {
                while (service.jobs().get(id).orElseThrow().attempts().begun() < 2) {
                    Thread.sleep(50);
                }
                signal("CONT", sleeper);
                Job done = QueueServiceTest.finished(service.jobs(), id);
                assertThat(done.state()).isEqualTo(JobState.COMPLETED);
                assertThat(done.attempts()).isEqualTo(new Attempts(2, 0, 1));
                assertThat(done.outputs().getFirst().files().get(OutputFile.VIDEO).key().value()).as("the second attempt's").contains("/2-0/");
                assertThat(other.show(id)).startsWith("completed");
            }
        }
    }

    private static void signal(String name, QueueProcess process) throws Exception {
        new ProcessBuilder("kill", "-" + name, "" + process.handle().pid()).start().waitFor();
    }
}
