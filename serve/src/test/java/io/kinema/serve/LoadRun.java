package io.kinema.serve;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

/** Many clients at once, each of which submits videos, watches them, fetches and deletes them. */
final class LoadRun {
    private final TestServer server;
    private final int clients;
    private final int submissions;
    private final Set<String> ids = ConcurrentHashMap.newKeySet();
    private final ConcurrentLinkedQueue<String> wrong = new ConcurrentLinkedQueue<>();
    private final AtomicInteger next = new AtomicInteger();
    private final AtomicInteger refused = new AtomicInteger();

    LoadRun(TestServer server, int clients, int submissions) {
        this.server = server;
        this.clients = clients;
        this.submissions = submissions;
    }

    /** Runs all of them to the end. */
    LoadRun run() throws InterruptedException {
        CountDownLatch ended = new CountDownLatch(clients);
        for (int i = 0; i < clients; i++) {
            Thread.startVirtualThread(() -> {
                try {
                    for (int n = next.getAndIncrement(); n < submissions; n = next.getAndIncrement()) {
                        one("wish " + n);
                    }
                } catch (RuntimeException | AssertionError e) {
                    wrong.add(String.valueOf(e));
                } finally {
                    ended.countDown();
                }
            });
        }
        ended.await();
        return this;
    }

    private void one(String prompt) {
        TestServer.Answer created = server.post("/v1/videos", "{\"prompt\":\"" + prompt + "\",\"frames\":22,\"steps\":4}");
        while (created.status() == 429) {
            refused.incrementAndGet();
            TestServer.sleep(50);
            created = server.post("/v1/videos", "{\"prompt\":\"" + prompt + "\",\"frames\":22,\"steps\":4}");
        }
        if (created.status() != 202) {
            wrong.add(created.text());
            return;
        }
        String id = created.json().path("id").asText();
        if (!ids.add(id)) {
            wrong.add("twice: " + id);
        }
        JsonNode video = created.json();
        while (List.of("queued", "in_progress").contains(video.path("status").asText())) {
            TestServer.sleep(250);
            video = server.get("/v1/videos/" + id).json();
        }
        String film = server.get("/v1/videos/" + id + "/content").text();
        if (!film.equals(prompt + " 0") || !video.path("prompt").asText().equals(prompt)) {
            wrong.add(prompt + " became " + film + " of " + video);
        }
        if (server.delete("/v1/videos/" + id).status() != 200) {
            wrong.add("not deleted: " + id);
        }
    }

    /** Different jobs that were answered. */
    int jobs() {
        return ids.size();
    }

    /** Answers of 429, each of which was tried again. */
    int refused() {
        return refused.get();
    }

    List<String> wrong() {
        return List.copyOf(wrong);
    }
}
