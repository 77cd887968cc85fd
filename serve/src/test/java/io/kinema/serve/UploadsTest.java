package io.kinema.serve;

import static org.assertj.core.api.Assertions.assertThat;

import io.kinema.jobs.JobLimits;
import io.kinema.jobs.OutputFile;
import io.kinema.serve.body.BodyLimits;
import io.kinema.serve.body.StagingShare;
import java.io.IOException;
import java.io.OutputStream;
import java.io.RandomAccessFile;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Uploads that are too large, never end, or come drop by drop; and connections that only wait. */
class UploadsTest {
    private static final Duration A_MOMENT = Duration.ofSeconds(1);
    private static final long FILM_BYTES = 64L << 20;
    private static final String START = "--b\r\nContent-Disposition: form-data; name=\"input_reference\"; filename=\"x\"\r\n\r\n";

    @TempDir
    private Path folder;
    private TestServer server;

    @BeforeEach
    void start() throws IOException {
        server = server("patient", TestServer.A_WHILE);
    }

    /** @param patience short only where a client is meant to be too slow: a busy machine makes any client slow */
    private TestServer server(String name, Duration patience) throws IOException {
        return TestServer.start(folder.resolve(name), options -> options.bodies(new BodyLimits(100_000, 10_000, 300_000, 200_000, 20_000, 3, 8, patience, 100_000, 2))
                .patience(patience));
    }

    @AfterEach
    void healthyAfter() throws IOException, InterruptedException {
        assertThat(server.get("/health").status()).isEqualTo(200);
        assertThat(server.leftInStaging()).isEmpty();
        assertThat(server.failures).isEmpty();
        server.close();
    }

    /** The same, where the server is to lose its patience. */
    private interface Slow {
        void with(TestServer hasty) throws IOException;
    }

    private void hasty(Slow client) throws IOException, InterruptedException {
        try (TestServer hasty = server("hasty", A_MOMENT)) {
            client.with(hasty);
            assertThat(hasty.get("/health").status()).isEqualTo(200);
            assertThat(hasty.leftInStaging()).isEmpty();
            assertThat(hasty.failures).isEmpty();
        }
    }

    @Test
    void bodiesDeclaredTooLargeAreRefusedUnread() throws IOException {
        for (String type : List.of("application/json", "multipart/form-data; boundary=b", "application/x-www-form-urlencoded")) {
            String answer = RawHttp.send(server.port(), "POST /v1/videos HTTP/1.1\r\nHost: localhost\r\nContent-Type: " + type + "\r\nContent-Length: 99999999999\r\n\r\n");
            assertThat(answer).as(type).startsWith("HTTP/1.1 413").contains("\"code\":\"too_large\"");
        }
    }

    @Test
    void bodiesThatNeverEndAreRefusedWhenTheyAreTooLarge() throws IOException {
        for (String type : List.of("application/json|{\"prompt\":\"", "multipart/form-data; boundary=b|" + START, "application/x-www-form-urlencoded|prompt=")) {
            String[] parts = type.split("\\|", 2);
            try (Socket socket = RawHttp.open(server.port())) {
                OutputStream out = socket.getOutputStream();
                out.write(("POST /v1/videos HTTP/1.1\r\nHost: localhost\r\nContent-Type: " + parts[0] + "\r\nTransfer-Encoding: chunked\r\n\r\n").getBytes(StandardCharsets.US_ASCII));
                chunk(out, parts[1].getBytes(StandardCharsets.US_ASCII));
                byte[] more = new byte[8192];
                Arrays.fill(more, (byte) 'x');
                try {
                    for (int i = 0; i < 10_000; i++) {
                        chunk(out, more);
                    }
                    throw new AssertionError("eighty megabytes were taken");
                } catch (SocketException closed) {
                    // As it should.
                }
                assertThat(RawHttp.rest(socket)).satisfiesAnyOf(answer -> assertThat(answer).startsWith("HTTP/1.1 413"), answer -> assertThat(answer).isEmpty());
            }
        }
    }

    private static void chunk(OutputStream out, byte[] content) throws IOException {
        out.write((Integer.toHexString(content.length) + "\r\n").getBytes(StandardCharsets.US_ASCII));
        out.write(content);
        out.write("\r\n".getBytes(StandardCharsets.US_ASCII));
    }

    @Test
    void aFileOrAFieldBeyondItsLimitIsRefused() {
        TestServer.Answer file = server.post("/v1/videos", new Multipart().field("prompt", "x").file("input_reference", "x", "image/png", new byte[200_001]));
        assertThat(file.status()).isEqualTo(413);
        assertThat(file.json().path("detail").asText()).isEqualTo("input_reference: got more than 200000 bytes, expected at most that many");
        assertThat(server.post("/v1/videos", new Multipart().field("prompt", "x".repeat(20_001))).status()).isEqualTo(413);
        assertThat(server.post("/v1/videos", "{\"prompt\":\"" + "x".repeat(100_000) + "\"}").status()).isEqualTo(413);
        Multipart many = new Multipart();
        for (int i = 0; i < 9; i++) {
            many.field("field" + i, "x");
        }
        assertThat(server.post("/v1/videos", many).status()).isEqualTo(400);
    }

    @Test
    void clientsThatGoAwayLeaveNothing() throws IOException {
        for (int i = 0; i < 5; i++) {
            try (Socket socket = RawHttp.open(server.port())) {
                socket.getOutputStream().write(("POST /v1/videos HTTP/1.1\r\nHost: localhost\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: 150000\r\n\r\n"
                        + START + "x".repeat(50_000)).getBytes(StandardCharsets.US_ASCII));
                socket.getOutputStream().flush();
            }
        }
        // Each ends as a body that broke off, once the server has noticed.
        awaitMeter(server, "route=\"/v1/videos\",status=\"408\"} 5");
        assertThat(server.leftInStaging()).isEmpty();
    }

    private static void awaitMeter(TestServer server, String line) {
        long end = System.nanoTime() + TestServer.A_WHILE.toNanos();
        while (!server.get("/metrics").text().contains(line)) {
            assertThat(System.nanoTime()).as("never counted: %s", line).isLessThan(end);
            TestServer.sleep(50);
        }
    }

    @Test
    void bodiesThatDripAreRefused() throws IOException, InterruptedException {
        hasty(hasty -> {
            try (Socket socket = RawHttp.open(hasty.port())) {
                socket.getOutputStream().write(("POST /v1/videos HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 50000\r\n\r\n")
                        .getBytes(StandardCharsets.US_ASCII));
                drip(socket, "{\"prompt\":\"" + "x".repeat(10_000));
                assertThat(RawHttp.rest(socket)).startsWith("HTTP/1.1 408").contains("\"code\":\"too_slow\"");
            }
        });
    }

    @Test
    void headersThatDripAreCutOff() throws IOException, InterruptedException {
        hasty(hasty -> {
            try (Socket socket = RawHttp.open(hasty.port())) {
                assertThat(drip(socket, "GET /v1/videos HTTP/1.1\r\nHost: localhost\r\nX-Long: " + "x".repeat(10_000))).as("bytes before the connection is closed")
                        .isLessThan(10_000);
            }
        });
    }

    @Test
    void aConnectionThatSaysNothingIsClosed() throws IOException, InterruptedException {
        hasty(hasty -> {
            try (Socket socket = RawHttp.open(hasty.port())) {
                assertThat(RawHttp.rest(socket)).isEmpty();
            }
        });
    }

    @Test
    void manySlowClientsDoNotKeepOthersFromTheirAnswers() throws IOException {
        Socket[] slow = new Socket[100];
        for (int i = 0; i < slow.length; i++) {
            slow[i] = RawHttp.open(server.port());
            slow[i].getOutputStream().write(("POST /v1/videos HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 5000\r\n\r\n{")
                    .getBytes(StandardCharsets.US_ASCII));
        }
        assertThat(server.post("/v1/videos", "{\"prompt\":\"quick\"}").status()).isEqualTo(202);
        for (Socket socket : slow) {
            socket.close();
        }
    }

    @Test
    void whoeverDoesNotReadItsFilmIsCutOff() throws IOException, InterruptedException {
        try (TestServer films = films("unread", A_MOMENT); Socket socket = RawHttp.open(films.port())) {
            String id = film(films);
            socket.getOutputStream().write(("GET /v1/videos/" + id + "/content HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").getBytes(StandardCharsets.US_ASCII));
            awaitMeter(films, "http_server_requests_seconds_count{method=\"GET\",route=\"/v1/videos/{id}/content\"");
            assertThat(RawHttp.rest(socket).length()).isLessThan((int) FILM_BYTES);
            assertThat(films.failures).isEmpty();
        }
    }

    @Test
    void whoeverReadsItsFilmGetsAllOfIt() throws IOException, InterruptedException {
        try (TestServer films = films("read", TestServer.A_WHILE)) {
            assertThat(films.get("/v1/videos/" + film(films) + "/content").response().body()).hasSize((int) FILM_BYTES);
            assertThat(films.failures).isEmpty();
        }
    }

    private TestServer films(String name, Duration patience) throws IOException {
        return TestServer.start(folder.resolve(name), JobLimits.defaults(), (job, output, files) -> {
            try (RandomAccessFile film = new RandomAccessFile(files.get(OutputFile.VIDEO).toFile(), "rw")) {
                film.setLength(FILM_BYTES);
            }
        }, options -> options.patience(patience));
    }

    private static String film(TestServer films) {
        String id = films.post("/v1/videos", "{\"prompt\":\"long\"}").json().path("id").asText();
        films.finished(id);
        return id;
    }

    /** @return how many bytes were sent before the server closed the connection or answered */
    private static int drip(Socket socket, String text) throws IOException {
        byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
        for (int i = 0; i < bytes.length; i++) {
            try {
                socket.getOutputStream().write(bytes[i]);
            } catch (SocketException closed) {
                return i;
            }
            if (socket.getInputStream().available() > 0) {
                return i;
            }
            TestServer.sleep(20);
        }
        return bytes.length;
    }

    @Test
    void leftoversOfAKilledServerAreRemovedAtTheStart() throws IOException {
        Path root = server.staging.resolveSibling("shared");
        Path left = root.resolve("request-left");
        try (StagingShare _ = StagingShare.take(root)) {
            Files.writeString(Files.createDirectories(left).resolve("file-0"), "x");
            StagingShare.take(root).close();
            assertThat(left).as("another server may be at work with it").exists();
        }
        StagingShare.take(root).close();
        assertThat(left).doesNotExist();
    }
}
