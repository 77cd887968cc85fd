package io.kinema.jobs.service;

import static org.assertj.core.api.Assertions.assertThat;

import io.kinema.jobs.Attempts;
import io.kinema.jobs.Job;
import io.kinema.jobs.JobFiles;
import io.kinema.jobs.JobId;
import io.kinema.jobs.JobQuery;
import io.kinema.jobs.JobState;
import io.kinema.jobs.OutputFile;
import io.kinema.jobs.storage.FolderStorage;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code kill -9} of the server with five jobs queued, one running, one done. */
class ServerKilledTest {
    @TempDir
    private Path folder;

    private static String clip(QueueService service, Job job) throws Exception {
        try (InputStream in = service.storage().read(job.output(0).orElseThrow().file(OutputFile.VIDEO).orElseThrow().key(), 0, Long.MAX_VALUE).orElseThrow()) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    /** The steps that the storage holds; another thread brings them there. */
    private String saved(JobId id) throws IOException {
        try (FolderStorage storage = FolderStorage.open(folder.resolve("storage"))) {
            Optional<InputStream> steps = storage.read(JobFiles.steps(id), 0, Long.MAX_VALUE);
            try (InputStream in = steps.orElseGet(InputStream::nullInputStream)) {
                return new String(in.readAllBytes(), StandardCharsets.UTF_8);
            }
        }
    }

    @Test
    void theSameJobsAreThereAfterwards() throws Exception {
        List<JobId> ids = new ArrayList<>();
        Path gate = Files.writeString(folder.resolve("gate"), "");
        try (QueueProcess server = QueueProcess.start(folder, "", 1)) {
            ids.add(server.submit("done"));
            ids.add(server.submit("running steps=9 hold-at=DENOISING/6:" + gate.toUri()));
            for (int i = 0; i < 5; i++) {
                ids.add(server.submit("queued " + i));
            }
            while (!server.show(ids.get(1)).equals("in_progress 6") || !saved(ids.get(1)).endsWith(",s5")) {
                Thread.sleep(20);
            }
            List<ProcessHandle> engines = server.handle().children().toList();
            server.handle().destroyForcibly();
            for (ProcessHandle engine : engines) {
                engine.onExit().get(5, TimeUnit.MINUTES);
            }
        }

        try (QueueService after = QueueService.open(QueueProcess.options(folder, ""))) {
            List<Job> jobs = after.jobs().list(new JobQuery(Optional.empty(), JobQuery.Order.OLDEST_FIRST, Optional.empty(), 100)).jobs();
            assertThat(jobs).extracting(Job::id).isEqualTo(ids);
            assertThat(jobs.get(0).state()).isEqualTo(JobState.COMPLETED);
            assertThat(clip(after, jobs.get(0))).isEqualTo("done #0 [s0]");
            assertThat(jobs.subList(1, 7)).extracting(Job::state).as("nobody works on any").containsOnly(JobState.QUEUED);
            assertThat(jobs.get(1).attempts()).isEqualTo(new Attempts(1, 0, 1));
        }

        Files.delete(gate);
        try (QueueProcess server = QueueProcess.start(folder, "", 1)) {
            for (JobId id : ids) {
                while (!server.show(id).startsWith("completed")) {
                    Thread.sleep(20);
                }
            }
        }
        try (QueueService after = QueueService.open(QueueProcess.options(folder, ""))) {
            Job resumed = after.jobs().get(ids.get(1)).orElseThrow();
            assertThat(resumed.progress().resumedAtStep()).isEqualTo(6);
            assertThat(clip(after, resumed)).endsWith("[s0, s1, s2, s3, s4, s5, s6, s7, s8]");
            List<Instant> starts = new ArrayList<>();
            for (JobId id : ids.subList(2, 7)) {
                Job job = after.jobs().get(id).orElseThrow();
                assertThat(job.attempts()).isEqualTo(new Attempts(1, 0, 0));
                starts.add(job.startedAt().orElseThrow());
            }
            assertThat(starts).as("still in the order of recording, after the resumed one").isSorted();
            assertThat(starts.getFirst()).isAfterOrEqualTo(resumed.finishedAt().orElseThrow());
        }
    }
}
