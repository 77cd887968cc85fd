package io.kinema.jobs.worker;

import static org.assertj.core.api.Assertions.assertThat;

import io.kinema.engine.Cancellation;
import io.kinema.engine.Clip;
import io.kinema.engine.GenerateRequest;
import io.kinema.engine.H3Engine;
import io.kinema.engine.ProgressListener;
import io.kinema.jobs.Attempts;
import io.kinema.jobs.Job;
import io.kinema.jobs.JobError;
import io.kinema.jobs.JobId;
import io.kinema.jobs.JobLimits;
import io.kinema.jobs.JobStage;
import io.kinema.jobs.JobState;
import io.kinema.jobs.OutputFile;
import io.kinema.jobs.Submission;
import io.kinema.jobs.memory.InMemoryJobs;
import io.kinema.jobs.storage.FolderStorage;
import io.kinema.jobs.storage.OutputStorage;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A worker with the real engine and the bundled model: it is killed, cancelled, and its disks are full or read-only. */
@Tag("long")
class RealEngineTest {
    private static final Duration A_WHILE = Duration.ofMinutes(3);
    private static final WorkerTimes TIMES = new WorkerTimes(A_WHILE, A_WHILE, A_WHILE, Duration.ofSeconds(1), A_WHILE, A_WHILE, Duration.ofMillis(20), A_WHILE);

    @TempDir
    private Path folder;

    private InMemoryJobs jobs(OutputStorage storage) {
        return new InMemoryJobs(JobLimits.defaults(), storage, InstantSource.system());
    }

    private Worker worker(InMemoryJobs jobs, OutputStorage storage, Path work) {
        return new Worker(jobs, storage, new WorkerOptions("h3-nano", RealEngine.launcher(), work, 1, TIMES), InstantSource.system());
    }

    private static GenerateRequest.Builder request(int steps) {
        return GenerateRequest.prompt("A red circle bounces across a blue background").size(128, 128).frames(22).steps(steps).seed(3);
    }

    private static JobId submit(InMemoryJobs jobs, GenerateRequest request) {
        return jobs.submit(Submission.of("h3-nano", request)).job().id();
    }

    private static CompletableFuture<Turn> begin(Worker worker, JobId id) {
        return CompletableFuture.supplyAsync(() -> {
            try {
                return worker.make(id);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        });
    }

    private static Job at(InMemoryJobs jobs, JobId id, int output, JobStage stage, int step) throws InterruptedException {
        Job job = jobs.get(id).orElseThrow();
        while (job.progress().output() < output || job.progress().stage() != stage || job.progress().step() < step) {
            Job next = jobs.await(id, job.revision(), A_WHILE).orElseThrow();
            assertThat(next.revision()).as("stood still: " + job).isGreaterThan(job.revision());
            job = next;
        }
        return job;
    }

    @Test
    void aKilledJobEndsInTheBitsOfOneThatWasNot() throws Exception {
        OutputStorage storage = FolderStorage.open(folder.resolve("storage"));
        InMemoryJobs jobs = jobs(storage);
        GenerateRequest request = request(6).outputs(2).build();
        JobId id = submit(jobs, request);
        try (Worker worker = worker(jobs, storage, folder.resolve("work"))) {
            CompletableFuture<Turn> made = begin(worker, id);
            at(jobs, id, 1, JobStage.DENOISING, 3);
            worker.engineProcess().orElseThrow().destroyForcibly();
            assertThat(made.get()).isEqualTo(Turn.RETRY);
            assertThat(worker.make(id)).isEqualTo(Turn.OVER);
        }
        Job done = jobs.get(id).orElseThrow();
        assertThat(done.state()).isEqualTo(JobState.COMPLETED);
        assertThat(done.attempts()).isEqualTo(new Attempts(2, 1, 0));
        assertThat(done.progress().resumedAtStep()).as("of the second output").isGreaterThanOrEqualTo(2);
        List<Clip> clips = new ArrayList<>();
        try (H3Engine engine = H3Engine.open(RealEngine.options())) {
            engine.generateEach(request, ProgressListener.NONE, new Cancellation(), clips::add);
        }
        for (Clip clip : clips) {
            Path expected = folder.resolve("expected.mp4");
            Path got = folder.resolve("got.mp4");
            clip.writeMp4(expected);
            storage.fetch(done.output(clip.record().output().index()).orElseThrow().file(OutputFile.VIDEO).orElseThrow().key(), got);
            assertThat(got).hasSameBinaryContentAs(expected);
        }
        assertThat(done.output(1).orElseThrow().files()).containsOnlyKeys(OutputFile.values());
    }

    @Test
    void theDeviceIsIdleWhenACancelIsConfirmed() throws Exception {
        OutputStorage storage = FolderStorage.open(folder.resolve("storage"));
        InMemoryJobs jobs = jobs(storage);
        JobId id = submit(jobs, request(500).build());
        try (Worker worker = worker(jobs, storage, folder.resolve("work"))) {
            CompletableFuture<Turn> made = begin(worker, id);
            at(jobs, id, 0, JobStage.DENOISING, 2);
            jobs.cancel(id);
            assertThat(made.get()).isEqualTo(Turn.OVER);
            assertThat(jobs.get(id).orElseThrow().state()).isEqualTo(JobState.CANCELLED);
            JobId next = submit(jobs, request(1).build());
            assertThat(worker.make(next)).isEqualTo(Turn.OVER);
            assertThat(jobs.get(next).orElseThrow().state()).as("the same engine takes the next job").isEqualTo(JobState.COMPLETED);
            assertThat(worker.status().restarts()).isZero();
        }
    }

    @Test
    void aDiskThatIsFullAtTheMuxerFailsThatJobAlone() throws Exception {
        OutputStorage storage = FolderStorage.open(folder.resolve("storage"));
        InMemoryJobs jobs = jobs(storage);
        try (SmallDisk disk = small(16)) {
            JobId id = submit(jobs, request(1).build());
            Path work = disk.folder().resolve("work");
            try (Worker worker = worker(jobs, storage, work)) {
                assertThat(worker.make(id)).isEqualTo(Turn.OVER);
                JobError error = jobs.get(id).orElseThrow().error().orElseThrow();
                assertThat(error.code()).isEqualTo(JobError.Code.STORAGE_FAILED);
                assertThat(error.message()).contains("No space left").doesNotContain(folder.toString());
                assertThat(jobs.get(id).orElseThrow().outputs()).isEmpty();
                assertThat(worker.status().restarts()).as("the engine goes on").isZero();
            }
        }
    }

    @Test
    void aStorageThatIsFullOrReadOnlyFailsTheJobAndKeepsWhatItHas() throws Exception {
        try (SmallDisk disk = small(4096)) {
            OutputStorage storage = FolderStorage.open(disk.folder().resolve("storage"));
            InMemoryJobs jobs = jobs(storage);
            try (Worker worker = worker(jobs, storage, folder.resolve("work"))) {
                JobId fits = submit(jobs, request(1).build());
                worker.make(fits);
                assertThat(jobs.get(fits).orElseThrow().state()).isEqualTo(JobState.COMPLETED);
                Path filler = disk.folder().resolve("filler");
                try {
                    Files.write(filler, new byte[4096 << 10]);
                } catch (java.io.IOException full) {
                    assertThat(full).hasMessageContaining("No space");
                }
                JobId full = submit(jobs, request(1).build());
                worker.make(full);
                assertThat(jobs.get(full).orElseThrow().error().orElseThrow().code()).isEqualTo(JobError.Code.STORAGE_FAILED);
                Files.delete(filler);
                disk.readOnly(true);
                JobId readOnly = submit(jobs, request(1).build());
                worker.make(readOnly);
                assertThat(jobs.get(readOnly).orElseThrow().error().orElseThrow().message()).contains("Read-only").doesNotContain(folder.toString());
                disk.readOnly(false);
                JobId again = submit(jobs, request(1).build());
                worker.make(again);
                assertThat(jobs.get(again).orElseThrow().error()).isEmpty();
                assertThat(storage.find(jobs.get(fits).orElseThrow().output(0).orElseThrow().file(OutputFile.VIDEO).orElseThrow().key())).isPresent();
            }
        }
    }

    private SmallDisk small(int kilobytes) throws Exception {
        Optional<SmallDisk> disk = SmallDisk.mount(folder.resolve("disk"), kilobytes);
        Assumptions.assumeTrue(disk.isPresent(), "a small disk needs root: mount -t tmpfs was refused");
        return disk.get();
    }
}
