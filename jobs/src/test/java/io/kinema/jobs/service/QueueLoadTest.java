package io.kinema.jobs.service;

import static org.assertj.core.api.Assertions.assertThat;

import io.kinema.engine.GenerateRequest;
import io.kinema.jobs.Attempts;
import io.kinema.jobs.Job;
import io.kinema.jobs.JobId;
import io.kinema.jobs.JobPage;
import io.kinema.jobs.JobQuery;
import io.kinema.jobs.JobState;
import io.kinema.jobs.OutputFile;
import io.kinema.jobs.Submission;
import io.kinema.jobs.process.FakeEngine;
import io.kinema.jobs.worker.WorkerOptions;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Many clients at once and a fake engine of 10 ms: no job is lost, made twice or mistaken for another. */
class QueueLoadTest {
    @TempDir
    private Path folder;

    @Test
    void fortyJobsOfTwentyClients() throws Exception {
        load(20, 40);
    }

    @Test
    @Tag("long")
    void aThousandJobsOfTwoHundredClients() throws Exception {
        load(200, 1000);
    }

    private void load(int clients, int count) throws Exception {
        long[] nanos = new long[count];
        Map<JobId, String> prompts = new ConcurrentHashMap<>();
        List<Long> heaps = new ArrayList<>();
        long begin = System.nanoTime();
        try (QueueService service = QueueService.open(QueueProcess.options(folder, "")
                .worker(new WorkerOptions("fake", FakeEngine.launcher(10), folder.resolve("work"), 1, QueueServiceTest.TIMES)))) {
            submit(service, clients, count, nanos, prompts);
            long submitted = System.nanoTime();
            assertThat(prompts).as("ids").hasSize(count);
            for (long done = 0; done < count; done = service.jobs().counts().of(JobState.COMPLETED)) {
                if (heaps.size() <= 4 * done / count) {
                    heaps.add(usedHeap());
                }
                Thread.sleep(50);
            }
            heaps.add(usedHeap());
            eachIsItsOwn(service, prompts);
            Arrays.sort(nanos);
            report(Map.of("jobs", "" + count, "clients", "" + clients, "submit p50 ms", "" + nanos[count / 2] / 1e6, "submit p99 ms", "" + nanos[count * 99 / 100] / 1e6,
                    "submitting s", "" + (submitted - begin) / 1e9, "all s", "" + (System.nanoTime() - begin) / 1e9, "heap MB at each quarter", "" + heaps));
        }
        assertThat(Collections.max(heaps) - heaps.getFirst()).as("heap in MB at each quarter: %s", heaps).isLessThan(40);
    }

    /** For the evidence: {@code target/queue-load-1000.txt}. */
    private static void report(Map<String, String> numbers) throws Exception {
        StringBuilder lines = new StringBuilder();
        new TreeMap<>(numbers).forEach((name, value) -> lines.append(name).append(": ").append(value).append('\n'));
        Files.writeString(Path.of("target", "queue-load-" + numbers.get("jobs") + ".txt"), lines);
    }

    private static void submit(QueueService service, int clients, int count, long[] nanos, Map<JobId, String> prompts) throws Exception {
        try (ExecutorService pool = Executors.newThreadPerTaskExecutor(Thread.ofVirtual().factory())) {
            List<Future<?>> all = new ArrayList<>();
            for (int c = 0; c < clients; c++) {
                int client = c;
                all.add(pool.submit(() -> {
                    for (int i = client; i < count; i += clients) {
                        long start = System.nanoTime();
                        Submission submission = Submission.of("fake", GenerateRequest.prompt("job-" + i).build()).owner("client-" + client % 7).idempotencyKey("key-" + i);
                        prompts.put(service.jobs().submit(submission).job().id(), "job-" + i);
                        nanos[i] = System.nanoTime() - start;
                    }
                }));
            }
            for (Future<?> one : all) {
                one.get();
            }
        }
    }

    private static void eachIsItsOwn(QueueService service, Map<JobId, String> prompts) throws Exception {
        Set<JobId> seen = new HashSet<>();
        Optional<JobId> after = Optional.empty();
        JobPage page;
        do {
            page = service.jobs().list(new JobQuery(Optional.empty(), JobQuery.Order.OLDEST_FIRST, after, 100));
            for (Job job : page.jobs()) {
                assertThat(seen.add(job.id())).isTrue();
                assertThat(job.state()).isEqualTo(JobState.COMPLETED);
                assertThat(job.attempts()).isEqualTo(new Attempts(1, 0, 0));
                try (InputStream in = service.storage().read(job.output(0).orElseThrow().file(OutputFile.VIDEO).orElseThrow().key(), 0, 1000).orElseThrow()) {
                    assertThat(new String(in.readAllBytes(), StandardCharsets.UTF_8)).isEqualTo(prompts.get(job.id()) + " #0 [s0]");
                }
                after = Optional.of(job.id());
            }
        } while (page.more());
        assertThat(seen).isEqualTo(prompts.keySet());
    }

    private static long usedHeap() {
        System.gc();
        return (Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory()) >> 20;
    }
}
