package io.kinema.jobs.worker;

import static org.assertj.core.api.Assertions.assertThat;

import io.kinema.engine.GenerateRequest;
import io.kinema.jobs.Attempts;
import io.kinema.jobs.Job;
import io.kinema.jobs.JobError;
import io.kinema.jobs.JobFiles;
import io.kinema.jobs.JobId;
import io.kinema.jobs.JobLimits;
import io.kinema.jobs.JobProgress;
import io.kinema.jobs.JobStage;
import io.kinema.jobs.JobState;
import io.kinema.jobs.OutputFile;
import io.kinema.jobs.Submission;
import io.kinema.jobs.WorkQueue;
import io.kinema.jobs.WorkerStatus;
import io.kinema.jobs.memory.InMemoryJobs;
import io.kinema.jobs.process.EngineLauncher;
import io.kinema.jobs.process.FakeEngine;
import io.kinema.jobs.storage.FolderStorage;
import io.kinema.jobs.storage.OutputStorage;
import io.kinema.jobs.storage.StorageKey;
import io.kinema.jobs.storage.StoredFile;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** One worker and a fake engine process, which waits where a test wants to do something meanwhile: nothing here depends on the machine's speed. */
class WorkerTest {
    private static final Duration A_WHILE = Duration.ofMinutes(5);
    private static final Duration A_MOMENT = Duration.ofMillis(500);
    private static final WorkerTimes TIMES = new WorkerTimes(A_WHILE, A_WHILE, A_WHILE, Duration.ofSeconds(2), Duration.ofMillis(100), A_WHILE,
            Duration.ofMillis(20), A_WHILE);

    @TempDir
    private Path folder;
    private OutputStorage storage;
    private InMemoryJobs jobs;
    private Worker worker;

    @BeforeEach
    void start() {
        storage = FolderStorage.open(folder.resolve("storage"));
        jobs = new InMemoryJobs(JobLimits.defaults(), storage, InstantSource.system());
        worker = worker(TIMES, FakeEngine.launcher(1));
    }

    private Worker worker(WorkerTimes times, EngineLauncher launcher) {
        return new Worker(jobs, storage, new WorkerOptions("fake", launcher, folder.resolve("work"), 2, times), InstantSource.system());
    }

    @AfterEach
    void stop() {
        worker.close();
        worker.close();
        assertThat(folder.resolve("work").resolve("0")).as("nothing is left of the work").doesNotExist();
    }

    private JobId submit(String prompt) {
        return jobs.submit(Submission.of("fake", GenerateRequest.prompt(prompt).build())).job().id();
    }

    private Job job(JobId id) {
        return jobs.get(id).orElseThrow();
    }

    private String clip(JobId id, int output) throws IOException {
        StorageKey key = job(id).output(output).orElseThrow().file(OutputFile.VIDEO).orElseThrow().key();
        try (InputStream in = storage.read(key, 0, Long.MAX_VALUE).orElseThrow()) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    /** Lets the worker begin and waits until the job is as wanted. */
    private CompletableFuture<Turn> begin(JobId id, Predicate<Job> until) throws Exception {
        CompletableFuture<Turn> made = CompletableFuture.supplyAsync(() -> {
            try {
                return worker.make(id);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }, task -> Thread.ofPlatform().daemon().start(task));
        while (true) {
            // Asked before the job is: what was over by then has left its last mark on it.
            boolean over = made.isDone();
            Job job = job(id);
            if (until.test(job)) {
                return made;
            }
            assertThat(over).as("over too early: %s", job).isFalse();
            jobs.await(id, job.revision(), A_MOMENT);
        }
    }

    private static Turn turn(CompletableFuture<Turn> made) throws Exception {
        return made.get(A_WHILE.toSeconds(), TimeUnit.SECONDS);
    }

    /** While this file is there, {@code hold-at} holds. */
    private Path gate() throws IOException {
        return Files.writeString(folder.resolve("gate"), "");
    }

    private static Predicate<Job> atStep(int step) {
        return job -> job.progress().stage() == JobStage.DENOISING && job.progress().step() >= step;
    }

    @Test
    void makesJobsOneAfterTheOtherInOneProcess() throws Exception {
        JobId first = submit("first");
        assertThat(worker.make(first)).isEqualTo(Turn.OVER);
        long pid = worker.engineProcess().orElseThrow().pid();
        JobId second = submit("second steps=3");
        assertThat(worker.make(second)).isEqualTo(Turn.OVER);
        assertThat(worker.engineProcess().orElseThrow().pid()).isEqualTo(pid);
        assertThat(job(first).state()).isEqualTo(JobState.COMPLETED);
        assertThat(clip(second, 0)).isEqualTo("second steps=3 #0 [s0, s1, s2]");
        assertThat(job(second).progress().stage()).isEqualTo(JobStage.FINISHED);
        assertThat(worker.status()).isEqualTo(new WorkerStatus(WorkerStatus.State.IDLE, java.util.Optional.empty(), 0));
        assertThat(storage.find(JobFiles.steps(second))).as("saved steps go with the end").isEmpty();
    }

    @Test
    void workersWithOneFolderDoNotMeet() throws Exception {
        Path gate = gate();
        JobId id = submit("first steps=4 hold-at=DENOISING/2:" + gate.toUri());
        CompletableFuture<Turn> made = begin(id, atStep(2));
        try (Worker second = worker(TIMES, FakeEngine.launcher(1))) {
            JobId other = submit("second");
            assertThat(second.make(other)).isEqualTo(Turn.OVER);
            assertThat(job(other).state()).isEqualTo(JobState.COMPLETED);
        }
        Files.delete(gate);
        assertThat(turn(made)).isEqualTo(Turn.OVER);
        assertThat(job(id).state()).isEqualTo(JobState.COMPLETED);
        assertThat(job(id).attempts()).isEqualTo(new Attempts(1, 0, 0));
    }

    @Test
    void everyOutputIsListedWhenItIsStored() throws Exception {
        Path gate = gate();
        JobId id = jobs.submit(Submission.of("fake", GenerateRequest.prompt("a steps=4 hold-at=OUTPUT/1:" + gate.toUri()).outputs(3).build())).job().id();
        CompletableFuture<Turn> made = begin(id, job -> job.outputs().size() == 1);
        assertThat(job(id).state()).isEqualTo(JobState.IN_PROGRESS);
        assertThat(clip(id, 0)).endsWith("#0 [s0, s1, s2, s3]");
        Files.delete(gate);
        assertThat(turn(made)).isEqualTo(Turn.OVER);
        assertThat(job(id).outputs()).hasSize(3);
        assertThat(clip(id, 2)).endsWith("#2 [s0, s1, s2, s3]");
    }

    @Test
    void aDeadEngineCostsOneAttempt() throws Exception {
        aDeadEngineCostsOneAttempt("DENOISING/3");
    }

    @Tag("long")
    @ParameterizedTest
    @ValueSource(strings = {"LOADING", "TEXT_ENCODING", "DENOISING/0", "VIDEO_DECODING", "AUDIO_DECODING", "SAVING"})
    void aDeadEngineCostsOneAttempt(String stage) throws Exception {
        Path once = Files.writeString(folder.resolve("once"), "");
        JobId id = submit("a steps=5 crash-once-at=" + stage + ":" + once.toUri());
        assertThat(worker.make(id)).isEqualTo(Turn.RETRY);
        assertThat(job(id).state()).isEqualTo(JobState.QUEUED);
        assertThat(worker.make(id)).isEqualTo(Turn.OVER);
        assertThat(job(id).state()).isEqualTo(JobState.COMPLETED);
        assertThat(job(id).attempts()).isEqualTo(new Attempts(2, 1, 0));
        assertThat(clip(id, 0)).endsWith("#0 [s0, s1, s2, s3, s4]");
        assertThat(worker.status().restarts()).isEqualTo(1);
    }

    @Test
    void aKilledEnginesJobGoesOnFromItsLastSavedStep() throws Exception {
        Path gate = gate();
        JobId id = submit("a steps=9 hold-at=DENOISING/5:" + gate.toUri());
        CompletableFuture<Turn> made = begin(id, atStep(5));
        worker.engineProcess().orElseThrow().destroyForcibly();
        assertThat(turn(made)).isEqualTo(Turn.RETRY);
        Files.delete(gate);
        assertThat(worker.make(id)).isEqualTo(Turn.OVER);
        assertThat(job(id).progress().resumedAtStep()).as("every second step is saved").isEqualTo(4);
        assertThat(clip(id, 0)).endsWith("#0 [s0, s1, s2, s3, s4, s5, s6, s7, s8]");
    }

    @Test
    void theSecondDeathQuarantinesAndTheNextJobRuns() throws Exception {
        JobId poison = submit("poison crash-at=VIDEO_DECODING");
        assertThat(worker.make(poison)).isEqualTo(Turn.RETRY);
        worker.make(poison);
        assertThat(job(poison).state()).isEqualTo(JobState.QUARANTINED);
        assertThat(worker.make(poison)).as("nothing is left to do").isEqualTo(Turn.OVER);
        JobId next = submit("next");
        worker.make(next);
        assertThat(job(next).state()).isEqualTo(JobState.COMPLETED);
    }

    @Test
    @Tag("long")
    void aFrozenEngineIsKilled() throws Exception {
        worker.close();
        worker = worker(new WorkerTimes(A_WHILE, Duration.ofSeconds(4), A_WHILE, A_WHILE, A_WHILE, A_WHILE, Duration.ofMillis(20), A_WHILE), FakeEngine.launcher(1));
        JobId id = submit("a freeze-at=TEXT_ENCODING");
        assertThat(worker.make(id)).isEqualTo(Turn.RETRY);
        assertThat(job(id).attempts()).isEqualTo(new Attempts(1, 1, 0));
    }

    @Test
    @Tag("long")
    void anEngineThatIsHeldUpTogetherWithItsWorkerIsNotKilled() throws Exception {
        worker.close();
        AtomicBoolean held = new AtomicBoolean();
        WorkQueue holding = (WorkQueue) Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] {WorkQueue.class}, (proxy, method, arguments) -> {
            if (method.getName().equals("progress") && ((JobProgress) arguments[1]).step() == 2 && held.compareAndSet(false, true)) {
                signal("STOP");
                Thread.sleep(4000);
                signal("CONT");
            }
            return method.invoke(jobs, arguments);
        });
        WorkerTimes times = new WorkerTimes(A_WHILE, Duration.ofSeconds(3), A_WHILE, A_WHILE, A_WHILE, A_WHILE, Duration.ofMillis(20), A_WHILE);
        worker = new Worker(holding, storage, new WorkerOptions("fake", FakeEngine.launcher(1), folder.resolve("work"), 2, times), InstantSource.system());
        Path gate = gate();
        JobId id = submit("a steps=4 hold-at=DENOISING/2:" + gate.toUri());
        CompletableFuture<Turn> made = begin(id, job -> held.get() && atStep(2).test(job));
        Files.delete(gate);
        assertThat(turn(made)).isEqualTo(Turn.OVER);
        assertThat(job(id).attempts()).isEqualTo(new Attempts(1, 0, 0));
    }

    private void signal(String name) throws IOException, InterruptedException {
        new ProcessBuilder("kill", "-" + name, "" + worker.engineProcess().orElseThrow().pid()).start().waitFor();
    }

    @Test
    void anEngineThatLivesButDoesNothingIsKilled() throws Exception {
        worker.close();
        worker = worker(new WorkerTimes(A_WHILE, A_WHILE, Duration.ofSeconds(1), A_WHILE, A_WHILE, A_WHILE, Duration.ofMillis(20), A_WHILE), FakeEngine.launcher(1));
        JobId id = submit("a stall-at=AUDIO_DECODING");
        assertThat(worker.make(id)).isEqualTo(Turn.RETRY);
        assertThat(job(id).attempts().crashed()).isEqualTo(1);
    }

    @Test
    @Tag("long")
    void anEngineThatPrintsOnThePipeIsNotBelieved() throws Exception {
        JobId id = submit("a babble-at=LOADING");
        assertThat(worker.make(id)).isEqualTo(Turn.RETRY);
        assertThat(job(id).attempts().crashed()).isEqualTo(1);
    }

    @Test
    void aWrongRequestFailsOnceAndShowsNoFolder() throws Exception {
        JobId id = submit("a wrong-at=LOADING");
        assertThat(worker.make(id)).isEqualTo(Turn.OVER);
        JobError error = job(id).error().orElseThrow();
        assertThat(error.code()).isEqualTo(JobError.Code.BAD_REQUEST);
        assertThat(error.message()).contains("0.png").doesNotContain("/home").doesNotContain("somebody");
        JobId next = submit("next");
        worker.make(next);
        assertThat(job(next).state()).isEqualTo(JobState.COMPLETED);
        assertThat(worker.status().restarts()).as("the engine is unharmed").isZero();
    }

    @Test
    void aFullDiskAtTheMuxerFailsWithThatReason() throws Exception {
        JobId id = submit("a no-space-at=SAVING");
        assertThat(worker.make(id)).isEqualTo(Turn.OVER);
        JobError error = job(id).error().orElseThrow();
        assertThat(error.code()).isEqualTo(JobError.Code.STORAGE_FAILED);
        assertThat(error.message()).contains("No space left").doesNotContain("/var");
        assertThat(job(id).outputs()).isEmpty();
    }

    @Test
    void aRunningJobIsCancelledWithinAStepAndTheNextStarts() throws Exception {
        Path gate = gate();
        JobId id = submit("a steps=1000 hold-at=DENOISING/2:" + gate.toUri());
        CompletableFuture<Turn> made = begin(id, atStep(2));
        jobs.cancel(id);
        assertThat(turn(made)).isEqualTo(Turn.OVER);
        assertThat(job(id).state()).isEqualTo(JobState.CANCELLED);
        assertThat(job(id).progress().step()).as("the step under way is the last").isEqualTo(3);
        JobId next = submit("next");
        worker.make(next);
        assertThat(job(next).state()).isEqualTo(JobState.COMPLETED);
        assertThat(worker.status().restarts()).isZero();
    }

    @Test
    @Tag("long")
    void drainingLetsAShortJobFinish() throws Exception {
        worker.close();
        worker = worker(TIMES.drain(A_WHILE), FakeEngine.launcher(1));
        Path gate = gate();
        JobId id = submit("a steps=5 hold-at=DENOISING/1:" + gate.toUri());
        CompletableFuture<Turn> made = begin(id, atStep(1));
        worker.drain();
        assertThat(worker.status().state()).isEqualTo(WorkerStatus.State.DRAINING);
        Files.delete(gate);
        assertThat(turn(made)).isEqualTo(Turn.OVER);
        assertThat(job(id).state()).isEqualTo(JobState.COMPLETED);
        JobId next = submit("next");
        assertThat(worker.make(next)).as("no job is taken any more").isEqualTo(Turn.WAITS);
        assertThat(job(next).state()).isEqualTo(JobState.QUEUED);
    }

    @Test
    void drainingGivesALongJobBackAtASavedStep() throws Exception {
        JobId id = submit("a steps=10000 step-ms=60");
        CompletableFuture<Turn> made = begin(id, atStep(3));
        worker.drain();
        assertThat(turn(made)).isEqualTo(Turn.WAITS);
        assertThat(job(id).state()).isEqualTo(JobState.QUEUED);
        assertThat(job(id).attempts()).as("no crash").isEqualTo(new Attempts(1, 0, 0));
        assertThat(storage.find(JobFiles.steps(id))).isPresent();
    }

    @Test
    @Tag("long")
    void aReadOnlyStorageFailsTheJobAndLosesNothingElse() throws Exception {
        OutputStorage readOnly = new FailingStorage(storage, key -> key.value().startsWith("outputs/"));
        worker.close();
        worker = new Worker(jobs, readOnly, new WorkerOptions("fake", FakeEngine.launcher(1), folder.resolve("work"), 2, TIMES), InstantSource.system());
        JobId id = submit("a");
        assertThat(worker.make(id)).isEqualTo(Turn.OVER);
        assertThat(job(id).error().orElseThrow().code()).isEqualTo(JobError.Code.STORAGE_FAILED);
    }

    @Test
    @Tag("long")
    void aStorageThatComesBackInTimeCostsNothing() throws Exception {
        long until = System.nanoTime() + Duration.ofMillis(700).toNanos();
        OutputStorage flaky = new FailingStorage(storage, key -> key.value().startsWith("outputs/") && System.nanoTime() < until);
        worker.close();
        worker = new Worker(jobs, flaky, new WorkerOptions("fake", FakeEngine.launcher(1), folder.resolve("work"), 2,
                new WorkerTimes(A_WHILE, A_WHILE, A_WHILE, A_WHILE, A_WHILE, A_WHILE, Duration.ofMillis(20), A_WHILE)), InstantSource.system());
        JobId id = submit("a");
        assertThat(worker.make(id)).isEqualTo(Turn.OVER);
        assertThat(job(id).state()).isEqualTo(JobState.COMPLETED);
        assertThat(job(id).attempts()).isEqualTo(new Attempts(1, 0, 0));
    }

    @Test
    void aWorkerThatLostItsLeaseLeavesTheSavedStepsToTheNext() throws Exception {
        Path gate = gate();
        JobId id = submit("a steps=9 hold-at=DENOISING/5:" + gate.toUri());
        CompletableFuture<Turn> made = begin(id, atStep(5));
        jobs.lost(id, 1);
        assertThat(jobs.begin(id)).as("another worker's").isPresent();
        assertThat(turn(made)).isEqualTo(Turn.OVER);
        assertThat(storage.find(JobFiles.steps(id))).isPresent();
        assertThat(job(id).state()).isEqualTo(JobState.IN_PROGRESS);
    }

    @Test
    void savedStepsThatGoBeforeTheyAreReadCostNoJob() throws Exception {
        AtomicBoolean shown = new AtomicBoolean();
        OutputStorage forgetful = (OutputStorage) Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] {OutputStorage.class}, (proxy, method, arguments) -> {
            boolean steps = method.getName().equals("find") && arguments[0].toString().startsWith("steps/");
            try {
                return steps && shown.compareAndSet(false, true) ? Optional.of(new StoredFile((StorageKey) arguments[0], 1)) : method.invoke(storage, arguments);
            } catch (InvocationTargetException e) {
                throw e.getCause();
            }
        });
        worker.close();
        worker = new Worker(jobs, forgetful, new WorkerOptions("fake", FakeEngine.launcher(1), folder.resolve("work"), 2, TIMES), InstantSource.system());
        JobId id = submit("a steps=3");
        assertThat(worker.make(id)).isEqualTo(Turn.OVER);
        assertThat(shown).isTrue();
        assertThat(clip(id, 0)).endsWith("#0 [s0, s1, s2]");
    }

    @Test
    void anErrorOfTheEnginesVmEndsTheJobAndTheProcess() throws Exception {
        JobId id = submit("a vm-error-at=TEXT_ENCODING");
        assertThat(worker.make(id)).isEqualTo(Turn.OVER);
        assertThat(job(id).error().orElseThrow().code()).isEqualTo(JobError.Code.GENERATION_FAILED);
        worker.make(submit("next"));
        assertThat(worker.status().restarts()).isEqualTo(1);
    }

    @Test
    @Tag("long")
    void anEngineThatDoesNotStartTouchesNoJob() throws Exception {
        worker.close();
        worker = worker(TIMES, () -> new ProcessBuilder("false").start());
        JobId id = submit("a");
        assertThat(worker.make(id)).isEqualTo(Turn.WAITS);
        assertThat(job(id).attempts()).isEqualTo(Attempts.NONE);
        assertThat(worker.status().state()).isEqualTo(WorkerStatus.State.BROKEN);
        assertThat(worker.status().ready()).isFalse();
    }

    @Test
    void theEngineDiesWithItsParent() throws Exception {
        worker.make(submit("a"));
        ProcessHandle engine = worker.engineProcess().orElseThrow();
        worker.close();
        assertThat(engine.isAlive()).isFalse();
    }
}
