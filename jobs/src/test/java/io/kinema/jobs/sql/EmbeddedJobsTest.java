package io.kinema.jobs.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kinema.jobs.Attempts;
import io.kinema.jobs.Job;
import io.kinema.jobs.JobId;
import io.kinema.jobs.JobState;
import io.kinema.jobs.JobStoreContract;
import io.kinema.jobs.JobTransitions;
import io.kinema.jobs.Lease;
import io.kinema.jobs.StoreUnavailableException;
import io.kinema.jobs.storage.StorageKey;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class EmbeddedJobsTest extends JobStoreContract {
    private Database database;
    private SqlJobs jobs;

    @Override
    @SuppressWarnings("unchecked")
    protected SqlJobs open() {
        database = Database.open(DatabaseUrl.inFolder(folder), Duration.ofMinutes(1));
        jobs = new SqlJobs(database, storage, LIMITS, clock);
        return jobs;
    }

    @Override
    protected void shut() {
        database.close();
        database.close();
    }

    @Test
    void jobsOutliveTheProcess() {
        Job job = jobs.submit(submission("a \"quoted\"\nprompt 红")).job();
        database.close();
        open();
        assertThat(jobs.get(job.id())).contains(job);
    }

    @Test
    void finishedJobsGoWhenTheirTimeIsUp() throws Exception {
        CleanUp cleanUp = new CleanUp(database, storage, clock);
        cleanUp.sweep();
        Job waiting = jobs.submit(submission("waits")).job();
        Job cancelled = jobs.submit(submission("done")).job();
        storage.put(StorageKey.of("outputs", cancelled.id().value(), "1-0", "clip.mp4"), Files.writeString(folder.resolve("f"), "x"));
        jobs.cancel(cancelled.id());
        for (Duration passed = Duration.ZERO; passed.compareTo(LIMITS.keep()) < 0; passed = passed.plus(CleanUp.INTERVAL)) {
            assertThat(cleanUp.sweep()).isZero();
            assertThat(jobs.get(cancelled.id())).isPresent();
            clock.advance(CleanUp.INTERVAL);
        }
        assertThat(cleanUp.sweep()).isEqualTo(1);
        assertThat(jobs.get(cancelled.id())).isEmpty();
        assertThat(storage.children(new StorageKey("outputs"))).isEmpty();
        assertThat(jobs.get(waiting.id())).isPresent();
    }

    @Test
    void aClockThatJumpsAYearRemovesNothing() {
        CleanUp cleanUp = new CleanUp(database, storage, clock);
        cleanUp.sweep();
        Job job = jobs.submit(submission("done")).job();
        jobs.cancel(job.id());
        for (Duration jump : new Duration[] {Duration.ofDays(365), Duration.ofDays(-1000), Duration.ofDays(4000)}) {
            clock.advance(jump);
            assertThat(cleanUp.sweep()).isZero();
        }
        assertThat(jobs.get(job.id()).orElseThrow().state()).isEqualTo(JobState.CANCELLED);
    }

    /** The answer to a commit can be lost with the connection; the job has then begun, though whoever began it does not know. */
    @Test
    void aJobThatHasBegunUnheardIsBegunAgain() throws Exception {
        JobId id = jobs.submit(submission("begun")).job().id();
        CompletableFuture<Optional<Lease>> lease = new CompletableFuture<>();
        Thread worker = Thread.ofPlatform().daemon().unstarted(() -> lease.complete(jobs.takeOver(id)));
        database.transaction("test", c -> {
            Job locked = JobRows.lock(c, id).orElseThrow();
            worker.start();
            while (Arrays.stream(worker.getStackTrace()).noneMatch(frame -> frame.getMethodName().equals("lock") && frame.getClassName().endsWith("JobRows"))) {
                Thread.onSpinWait();
            }
            JobRows.update(c, JobTransitions.begun(locked, clock.instant()).orElseThrow());
            return true;
        });
        assertThat(lease.get(5, TimeUnit.MINUTES)).hasValueSatisfying(second -> assertThat(second.attempt()).isEqualTo(2));
        assertThat(jobs.get(id).orElseThrow().attempts()).isEqualTo(new Attempts(2, 0, 1));
    }

    @Test
    void filesWithoutAJobGoAfterAnHour() throws Exception {
        Path file = Files.writeString(folder.resolve("f"), "x");
        Job job = jobs.submit(submission("there")).job();
        JobId gone = JobId.random();
        storage.put(StorageKey.of("inputs", gone.value(), "0.png"), file);
        storage.put(StorageKey.of("steps", job.id().value(), "steps.safetensors"), file);
        CleanUp cleanUp = new CleanUp(database, storage, clock);
        cleanUp.removeOrphans(0);
        cleanUp.removeOrphans(Duration.ofMinutes(59).toNanos());
        assertThat(cleanUp.orphans()).isEqualTo(1);
        assertThat(storage.children(new StorageKey("inputs"))).containsExactly(gone.value());
        cleanUp.removeOrphans(Duration.ofMinutes(61).toNanos());
        assertThat(storage.children(new StorageKey("inputs"))).isEmpty();
        assertThat(storage.children(new StorageKey("steps"))).containsExactly(job.id().value());
    }

    @Test
    void aDatabaseOfALaterVersionIsRefused() {
        database.transaction("test", c -> {
            try (var statement = c.createStatement()) {
                return statement.execute("insert into kinema_schema (id, version) values (99, 99)");
            }
        });
        assertThatThrownBy(() -> Database.open(DatabaseUrl.inFolder(folder), Duration.ZERO)).isInstanceOf(IllegalStateException.class)
                .isNotInstanceOf(StoreUnavailableException.class).hasMessageContaining("version 99");
    }
}
