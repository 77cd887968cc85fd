package io.kinema.jobs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kinema.engine.GenerateRequest;
import io.kinema.engine.Reference;
import io.kinema.jobs.storage.FolderStorage;
import io.kinema.jobs.storage.StorageKey;
import io.kinema.jobs.storage.StoredFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What every job store promises; each implementation runs all of it. */
public abstract class JobStoreContract {
    protected static final JobLimits LIMITS = new JobLimits(8, 5, Duration.ofHours(1));

    @TempDir
    protected Path folder;
    protected final TestClock clock = new TestClock(Instant.parse("2026-03-01T10:00:00Z"));
    protected FolderStorage storage;
    private JobStore store;
    private WorkQueue queue;

    /** Opens the store under test; both views of it. */
    protected abstract <T extends JobStore & WorkQueue> T open() throws Exception;

    /** Closes it. */
    protected abstract void shut() throws Exception;

    @BeforeEach
    void start() throws Exception {
        storage = FolderStorage.open(folder.resolve("storage"));
        use(open());
    }

    private <T extends JobStore & WorkQueue> void use(T both) {
        store = both;
        queue = both;
    }

    @AfterEach
    void stop() throws Exception {
        shut();
    }

    protected static Submission submission(String prompt) {
        return Submission.of("h3-nano", GenerateRequest.prompt(prompt).seed(3).build());
    }

    private Job submit(String prompt) {
        return store.submit(submission(prompt)).job();
    }

    private JobState state(Job job) {
        return store.get(job.id()).orElseThrow().state();
    }

    private static JobOutput anOutput(Job job, int index) {
        return new JobOutput(index, index, Map.of(OutputFile.VIDEO, new StoredFile(StorageKey.of("outputs", job.id().value(), "" + index, "clip.mp4"), 7)));
    }

    @Test
    void aJobIsQueuedThenInProgressThenCompleted() {
        Job job = store.submit(submission("a").details("{\"a\":1}").owner("me")).job();
        assertThat(store.get(job.id())).contains(job);
        assertThat(job.state()).isEqualTo(JobState.QUEUED);
        assertThat(job.startedAt()).isEmpty();
        assertThat(job.createdAt()).isEqualTo(clock.instant());

        clock.advance(Duration.ofSeconds(5));
        Lease lease = queue.begin(job.id()).orElseThrow();
        assertThat(state(job)).isEqualTo(JobState.IN_PROGRESS);
        assertThat(queue.begin(job.id())).as("nobody else can begin it").isEmpty();
        JobProgress progress = new JobProgress(JobStage.DENOISING, clock.instant(), 0, 1, 3, 20, 0);
        assertThat(queue.progress(lease, progress)).isTrue();
        assertThat(store.get(job.id()).orElseThrow().progress()).isEqualTo(progress);
        assertThat(queue.output(lease, anOutput(job, 0))).isTrue();
        assertThat(queue.complete(lease)).isTrue();

        Job done = store.get(job.id()).orElseThrow();
        assertThat(done.state()).isEqualTo(JobState.COMPLETED);
        assertThat(done.request()).isEqualTo(job.request());
        assertThat(done.request().details()).isEqualTo("{\"a\":1}");
        assertThat(done.outputs()).containsExactly(anOutput(job, 0));
        assertThat(done.startedAt()).contains(clock.instant());
        assertThat(done.expiresAt()).contains(clock.instant().plus(LIMITS.keep()));
        assertThat(done.owner()).contains("me");
        assertThat(done.attempts()).isEqualTo(new Attempts(1, 0, 0));
        assertThat(queue.complete(lease)).as("once only").isFalse();
        assertThat(queue.fail(lease, new JobError(JobError.Code.GENERATION_FAILED, "late"))).isFalse();
        assertThat(store.get(job.id())).contains(done);
    }

    @Test
    void inputsAreStoredBeforeSubmitReturnsAndGoWithTheJob() throws Exception {
        Path picture = Files.writeString(folder.resolve("päck chen.PNG"), "picture");
        Path sound = Files.writeString(folder.resolve("s.wav"), "sound");
        GenerateRequest request = GenerateRequest.prompt("a").image(picture).reference(new Reference.Image(picture)).reference(new Reference.Audio(sound)).build();
        Job job = store.submit(Submission.of("h3-nano", request)).job();
        Files.delete(picture);
        Files.delete(sound);

        Path fetched = Files.createDirectory(folder.resolve("fetched"));
        GenerateRequest back = JobInputs.fetch(store.get(job.id()).orElseThrow(), storage, fetched);
        assertThat(back.image().orElseThrow()).hasContent("picture").hasFileName("0.png");
        assertThat(back.references().get(0).file()).isEqualTo(back.image().orElseThrow());
        assertThat(back.references().get(1).file()).hasContent("sound");
        assertThat(store.delete(job.id())).isEqualTo(Deletion.DELETED);
        assertThat(storage.children(new StorageKey("inputs"))).isEmpty();
    }

    @Test
    void anInputThatIsNotThereLeavesNothingBehind() {
        GenerateRequest request = GenerateRequest.prompt("a").image(folder.resolve("absent.png")).build();
        assertThatThrownBy(() -> store.submit(Submission.of("h3-nano", request))).isInstanceOf(io.kinema.jobs.storage.StorageException.class)
                .hasMessageNotContaining(folder.toString());
        assertThat(store.counts().of(JobState.QUEUED)).isZero();
        assertThat(storage.children(new StorageKey("inputs"))).isEmpty();
    }

    @Test
    void theQueueIsBounded() {
        for (int i = 0; i < LIMITS.queued(); i++) {
            store.submit(submission("" + i).owner("owner" + i % 2));
        }
        assertThatThrownBy(() -> submit("one more")).isInstanceOfSatisfying(QueueFullException.class, full -> {
            assertThat(full.scope()).isEqualTo(QueueFullException.Scope.ALL);
            assertThat(full.retryAfter()).isBetween(Duration.ofSeconds(1), Duration.ofHours(1));
        });
        Job first = store.list(new JobQuery(Optional.empty(), JobQuery.Order.OLDEST_FIRST, Optional.empty(), 1)).jobs().getFirst();
        queue.begin(first.id());
        assertThat(submit("there is room now").state()).isEqualTo(JobState.QUEUED);
    }

    @Test
    void anOwnerHasItsShare() {
        for (int i = 0; i < LIMITS.queuedPerOwner(); i++) {
            store.submit(submission("" + i).owner("greedy"));
        }
        assertThatThrownBy(() -> store.submit(submission("more").owner("greedy")))
                .isInstanceOfSatisfying(QueueFullException.class, full -> assertThat(full.scope()).isEqualTo(QueueFullException.Scope.OWNER));
        assertThat(store.submit(submission("another").owner("modest")).job().state()).isEqualTo(JobState.QUEUED);
        assertThat(submit("nobody's").state()).isEqualTo(JobState.QUEUED);
    }

    @Test
    void theSameKeyGivesTheSameJob() throws Exception {
        Path one = Files.writeString(folder.resolve("one.png"), "same bytes");
        Path two = Files.writeString(folder.resolve("two.png"), "same bytes");
        Path other = Files.writeString(folder.resolve("other.png"), "other bytes");
        Submission first = Submission.of("h3-nano", GenerateRequest.prompt("a").image(one).build()).owner("me").idempotencyKey("k");
        Submitted submitted = store.submit(first);
        assertThat(submitted.repeated()).isFalse();
        Submitted again = store.submit(Submission.of("h3-nano", GenerateRequest.prompt("a").image(two).build()).owner("me").idempotencyKey("k"));
        assertThat(again.repeated()).isTrue();
        assertThat(again.job()).isEqualTo(submitted.job());
        assertThatThrownBy(() -> store.submit(Submission.of("h3-nano", GenerateRequest.prompt("a").image(other).build()).owner("me").idempotencyKey("k")))
                .isInstanceOf(IdempotencyConflictException.class);
        assertThat(store.submit(first.owner("you")).job().id()).as("keys of different owners do not meet").isNotEqualTo(submitted.job().id());
        store.delete(submitted.job().id());
        assertThat(store.submit(first).repeated()).as("the key goes with its job").isFalse();
        assertThat(storage.children(new StorageKey("inputs"))).as("a repeated submission stores nothing").hasSize(2);
    }

    @Test
    void manyThreadsWithOneKeyMakeOneJob() throws Exception {
        Set<JobId> ids = ConcurrentHashMap.newKeySet();
        CountDownLatch go = new CountDownLatch(1);
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 16; i++) {
            threads.add(Thread.ofVirtual().start(() -> {
                try {
                    go.await();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
                ids.add(store.submit(submission("a").idempotencyKey("k")).job().id());
            }));
        }
        go.countDown();
        for (Thread thread : threads) {
            thread.join();
        }
        assertThat(ids).hasSize(1);
        assertThat(store.counts().of(JobState.QUEUED)).isEqualTo(1);
    }

    @Test
    void listsArePagedInOrder() {
        List<JobId> ids = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            ids.add(store.submit(submission("" + i).owner(i == 4 ? "you" : "me")).job().id());
        }
        store.submit(submission("hidden").unlisted());
        JobPage first = store.list(JobQuery.newest(2));
        assertThat(first.jobs()).extracting(Job::id).containsExactly(ids.get(4), ids.get(3));
        assertThat(first.more()).isTrue();
        JobPage last = store.list(new JobQuery(Optional.empty(), JobQuery.Order.NEWEST_FIRST, Optional.of(ids.get(2)), 2));
        assertThat(last.jobs()).extracting(Job::id).containsExactly(ids.get(1), ids.get(0));
        assertThat(last.more()).isFalse();
        assertThat(store.list(new JobQuery(Optional.of("me"), JobQuery.Order.OLDEST_FIRST, Optional.of(ids.get(0)), 100)).jobs())
                .extracting(Job::id).containsExactly(ids.get(1), ids.get(2), ids.get(3));
        assertThatThrownBy(() -> store.list(new JobQuery(Optional.empty(), JobQuery.Order.NEWEST_FIRST, Optional.of(JobId.random()), 2)))
                .isInstanceOf(UnknownJobException.class);
    }

    @Test
    void aQueuedJobIsCancelledAtOnce() {
        Job job = submit("a");
        Job cancelled = store.cancel(job.id()).orElseThrow();
        assertThat(cancelled.state()).isEqualTo(JobState.CANCELLED);
        assertThat(cancelled.error().orElseThrow().code()).isEqualTo(JobError.Code.CANCELLED);
        assertThat(queue.begin(job.id())).isEmpty();
        assertThat(store.cancel(job.id())).contains(cancelled);
        assertThat(store.cancel(JobId.random())).isEmpty();
    }

    @Test
    void aRunningJobIsCancelledWhenItsWorkerHasStopped() {
        Job job = submit("a");
        Lease lease = queue.begin(job.id()).orElseThrow();
        assertThat(queue.shouldStop(lease)).isFalse();
        Job asked = store.cancel(job.id()).orElseThrow();
        assertThat(asked.state()).isEqualTo(JobState.IN_PROGRESS);
        assertThat(asked.cancelling()).isTrue();
        assertThat(store.delete(job.id())).isEqualTo(Deletion.IN_PROGRESS);
        assertThat(queue.shouldStop(lease)).isTrue();
        assertThat(queue.cancelled(lease)).isTrue();
        assertThat(state(job)).isEqualTo(JobState.CANCELLED);
        assertThat(store.delete(job.id())).isEqualTo(Deletion.DELETED);
        assertThat(store.get(job.id())).isEmpty();
        assertThat(store.delete(job.id())).isEqualTo(Deletion.UNKNOWN);
    }

    @Test
    void aJobThatFinishesWhileItIsBeingCancelledIsKept() {
        Job job = submit("a");
        Lease lease = queue.begin(job.id()).orElseThrow();
        store.cancel(job.id());
        assertThat(queue.complete(lease)).isTrue();
        assertThat(state(job)).isEqualTo(JobState.COMPLETED);
        assertThat(store.get(job.id()).orElseThrow().cancelling()).isFalse();
    }

    @Test
    void aDeletedQueuedJobNeverRuns() {
        Job job = submit("a");
        assertThat(store.delete(job.id())).isEqualTo(Deletion.DELETED);
        assertThat(queue.begin(job.id())).isEmpty();
    }

    @Test
    void theSecondCrashQuarantines() {
        Job job = submit("a");
        Lease first = queue.begin(job.id()).orElseThrow();
        queue.output(first, anOutput(job, 0));
        assertThat(queue.crashed(first)).isTrue();
        Job waiting = store.get(job.id()).orElseThrow();
        assertThat(waiting.state()).isEqualTo(JobState.QUEUED);
        assertThat(waiting.outputs()).as("what is stored stays").hasSize(1);
        Lease second = queue.begin(job.id()).orElseThrow();
        assertThat(second.attempt()).isEqualTo(2);
        assertThat(queue.progress(first, first.job().progress())).as("the first lease has ended").isFalse();
        assertThat(queue.shouldStop(first)).isTrue();
        assertThat(queue.crashed(second)).isTrue();
        Job quarantined = store.get(job.id()).orElseThrow();
        assertThat(quarantined.state()).isEqualTo(JobState.QUARANTINED);
        assertThat(quarantined.error().orElseThrow().code()).isEqualTo(JobError.Code.QUARANTINED);
        assertThat(quarantined.attempts()).isEqualTo(new Attempts(2, 2, 0));
        assertThat(queue.begin(job.id())).isEmpty();
    }

    @Test
    void aLostWorkerIsReplacedAndFiveQuarantine() {
        Job job = submit("a");
        Lease lease = queue.begin(job.id()).orElseThrow();
        for (int lost = 1; lost < Attempts.MOST_LOST; lost++) {
            Lease next = queue.takeOver(job.id()).orElseThrow();
            assertThat(next.job().attempts()).isEqualTo(new Attempts(lost + 1, 0, lost));
            assertThat(queue.complete(lease)).as("the lost one comes back too late").isFalse();
            assertThat(queue.lost(job.id(), lease.attempt())).as("and is lost only once").isFalse();
            lease = next;
        }
        assertThat(queue.takeOver(job.id())).isEmpty();
        assertThat(state(job)).isEqualTo(JobState.QUARANTINED);
    }

    @Test
    void aLostJobThatShouldBeCancelledIsCancelled() {
        Job job = submit("a");
        queue.begin(job.id());
        store.cancel(job.id());
        assertThat(queue.takeOver(job.id())).isEmpty();
        assertThat(state(job)).isEqualTo(JobState.CANCELLED);
    }

    @Test
    void aReleasedJobWaitsAgainAndCountsNoCrash() {
        Job job = submit("a");
        for (int i = 0; i < 10; i++) {
            assertThat(queue.release(queue.begin(job.id()).orElseThrow())).isTrue();
        }
        Job waiting = store.get(job.id()).orElseThrow();
        assertThat(waiting.state()).isEqualTo(JobState.QUEUED);
        assertThat(waiting.attempts()).isEqualTo(new Attempts(10, 0, 0));
    }

    @Test
    void aReleasedJobThatShouldBeCancelledIsCancelled() {
        Job job = submit("a");
        Lease lease = queue.begin(job.id()).orElseThrow();
        store.cancel(job.id());
        queue.release(lease);
        assertThat(state(job)).isEqualTo(JobState.CANCELLED);
    }

    @Test
    void aFailureSaysWhy() {
        Job job = submit("a");
        Lease lease = queue.begin(job.id()).orElseThrow();
        JobError error = new JobError(JobError.Code.STORAGE_FAILED, "no space");
        assertThat(queue.fail(lease, error)).isTrue();
        assertThat(store.get(job.id()).orElseThrow().error()).contains(error);
        assertThat(state(job)).isEqualTo(JobState.FAILED);
    }

    @Test
    void whoeverWaitsSeesEveryChangeOrNone() throws Exception {
        Job job = submit("a");
        assertThat(store.await(job.id(), 0, Duration.ofMinutes(5))).contains(job);
        assertThat(store.await(job.id(), job.revision(), Duration.ofMillis(30))).contains(job);
        Thread later = Thread.ofVirtual().start(() -> queue.begin(job.id()));
        Job begun = store.await(job.id(), job.revision(), Duration.ofMinutes(5)).orElseThrow();
        later.join();
        assertThat(begun.state()).isEqualTo(JobState.IN_PROGRESS);
        assertThat(begun.revision()).isGreaterThan(job.revision());
        assertThat(store.await(JobId.random(), 0, Duration.ofMillis(1))).isEmpty();
    }

    @Test
    void aClockThatJumpsLosesNothing() {
        Job job = submit("a");
        clock.advance(Duration.ofDays(400));
        Job second = submit("b");
        clock.advance(Duration.ofDays(-800));
        Job third = submit("c");
        assertThat(store.list(JobQuery.newest(3)).jobs()).extracting(Job::id).as("the order of recording stays").containsExactly(third.id(), second.id(), job.id());
        Lease lease = queue.begin(job.id()).orElseThrow();
        clock.advance(Duration.ofDays(4000));
        assertThat(queue.complete(lease)).isTrue();
        assertThat(state(job)).isEqualTo(JobState.COMPLETED);
    }

    @Test
    void countsSayHowManyThereAre() {
        submit("a");
        queue.begin(submit("b").id());
        store.cancel(submit("c").id());
        assertThat(store.counts().of(JobState.QUEUED)).isEqualTo(1);
        assertThat(store.counts().of(JobState.IN_PROGRESS)).isEqualTo(1);
        assertThat(store.counts().of(JobState.CANCELLED)).isEqualTo(1);
        assertThat(store.counts().of(JobState.COMPLETED)).isZero();
    }
}
