package io.kinema.serve;

import static org.assertj.core.api.Assertions.assertThat;

import io.kinema.jobs.JobLimits;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Nothing is lost, doubled or mixed up when many come at once. */
class LoadTest {
    @TempDir
    private Path folder;

    @Test
    void twoHundredClientsGetWhatTheyAskedFor() throws IOException, InterruptedException {
        load(200, 400, 1);
    }

    @Test
    @Tag("long")
    void aThousandSubmissionsOfTwoHundredClientsGetWhatTheyAskedFor() throws IOException, InterruptedException {
        load(200, 1000, 3);
    }

    private void load(int clients, int submissions, long stepMillis) throws IOException, InterruptedException {
        JobLimits limits = new JobLimits(submissions, submissions, Duration.ofHours(1));
        try (TestServer server = TestServer.start(folder, limits, options -> options)) {
            server.worker.stepMillis(stepMillis);
            LoadRun run = new LoadRun(server, clients, submissions).run();
            assertThat(run.wrong()).isEmpty();
            assertThat(run.jobs()).isEqualTo(submissions);
            assertThat(server.worker.made()).isEqualTo(submissions);
            assertThat(server.get("/v1/videos").json().path("data")).isEmpty();
            assertThat(server.leftInStaging()).isEmpty();
            assertThat(server.failures).isEmpty();
        }
    }

    @Test
    void aFullQueueSaysWhenToComeBack() throws IOException, InterruptedException {
        try (TestServer server = TestServer.start(folder, new JobLimits(3, 3, Duration.ofHours(1)), options -> options)) {
            server.worker.pause(true);
            for (int i = 0; i < 3; i++) {
                assertThat(server.post("/v1/videos", "{\"prompt\":\"x\"}").status()).isEqualTo(202);
            }
            TestServer.Answer full = server.post("/v1/videos", "{\"prompt\":\"x\"}");
            assertThat(full.status()).isEqualTo(429);
            assertThat(full.header("Retry-After")).matches("[1-9]\\d*");
            server.worker.pause(false);
            LoadRun run = new LoadRun(server, 20, 40).run();
            assertThat(run.wrong()).isEmpty();
            assertThat(run.jobs()).isEqualTo(40);
        }
    }

    @Test
    void ofThirtyTwoFilmsAtOnceEachHasItsOwnColour() throws IOException, InterruptedException {
        try (TestServer server = TestServer.start(folder, JobLimits.defaults(), SolidFilms::make)) {
            Set<Integer> colours = ConcurrentHashMap.newKeySet();
            ConcurrentLinkedQueue<String> wrong = new ConcurrentLinkedQueue<>();
            CountDownLatch ended = new CountDownLatch(32);
            for (int i = 0; i < 32; i++) {
                String prompt = "colour " + i;
                Thread.startVirtualThread(() -> {
                    try {
                        String id = server.post("/v1/videos", "{\"prompt\":\"" + prompt + "\"}").json().path("id").asText();
                        server.finished(id);
                        Path film = Files.write(folder.resolve(prompt + ".mp4"), server.get("/v1/videos/" + id + "/content").response().body());
                        int colour = SolidFilms.colour(film);
                        colours.add(colour);
                        if (colour != SolidFilms.colourOf(prompt)) {
                            wrong.add(prompt + " is " + colour + ", not " + SolidFilms.colourOf(prompt));
                        }
                    } catch (IOException | RuntimeException | AssertionError e) {
                        wrong.add(prompt + ": " + e);
                    } finally {
                        ended.countDown();
                    }
                });
            }
            ended.await();
            assertThat(wrong).isEmpty();
            assertThat(colours).hasSize(32);
        }
    }
}
