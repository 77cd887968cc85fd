package io.kinema.serve;

import static org.assertj.core.api.Assertions.assertThat;

import io.kinema.jobs.JobLimits;
import io.kinema.jobs.OutputFile;
import io.kinema.serve.body.BodyLimits;
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
    private static final BodyLimits SMALL = new BodyLimits(100_000, 10_000, 300_000, 200_000, 20_000, 3, 8, Duration.ofSeconds(1), 100_000, 2);
    private static final String START = "--b\r\nContent-Disposition: form-data; name=\"input_reference\"; filename=\"x\"\r\n\r\n";

    @TempDir
    private Path folder;
    private TestServer server;

    @BeforeEach
    void start() throws IOException {
        server = TestServer.start(folder, options -> options.bodies(SMALL).patience(Duration.ofSeconds(1)));
    }

    @AfterEach
    void healthyAfter() throws IOException, InterruptedException {
        assertThat(server.get("/health").status()).isEqualTo(200);
        assertThat(server.leftInStaging()).isEmpty();
        assertThat(server.failures).isEmpty();
        server.close();
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
        for (int look = 0; look < 600 && !server.get("/metrics").text().contains("route=\"/v1/videos\",status=\"408\"} 5"); look++) {
            TestServer.sleep(50);
        }
        assertThat(server.leftInStaging()).isEmpty();
    }

    @Test
    void bodiesThatDripAreRefused() throws IOException {
        try (Socket socket = RawHttp.open(server.port())) {
            socket.getOutputStream().write(("POST /v1/videos HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 50000\r\n\r\n")
                    .getBytes(StandardCharsets.US_ASCII));
            drip(socket, "{\"prompt\":\"" + "x".repeat(1000));
            assertThat(RawHttp.rest(socket)).startsWith("HTTP/1.1 408").contains("\"code\":\"too_slow\"");
        }
    }

    @Test
    void headersThatDripAreCutOff() throws IOException {
        try (Socket socket = RawHttp.open(server.port())) {
            assertThat(drip(socket, "GET /v1/videos HTTP/1.1\r\nHost: localhost\r\nX-Long: " + "x".repeat(1000))).as("bytes before the connection is closed").isLessThan(900);
        }
    }

    @Test
    void aConnectionThatSaysNothingIsClosed() throws IOException {
        try (Socket socket = RawHttp.open(server.port())) {
            assertThat(RawHttp.rest(socket)).isEmpty();
        }
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
        long length = 64L << 20;
        try (TestServer films = TestServer.start(folder.resolve("films"), JobLimits.defaults(), (job, output, files) -> {
            try (RandomAccessFile film = new RandomAccessFile(files.get(OutputFile.VIDEO).toFile(), "rw")) {
                film.setLength(length);
            }
        }, options -> options.patience(Duration.ofSeconds(1)))) {
            String id = films.post("/v1/videos", "{\"prompt\":\"long\"}").json().path("id").asText();
            films.finished(id);
            try (Socket socket = RawHttp.open(films.port())) {
                socket.getOutputStream().write(("GET /v1/videos/" + id + "/content HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").getBytes(StandardCharsets.US_ASCII));
                TestServer.sleep(5000);
                assertThat(RawHttp.rest(socket).length()).isLessThan((int) length);
            }
            assertThat(films.get("/v1/videos/" + id + "/content").response().body()).as("for whoever reads").hasSize((int) length);
            assertThat(films.failures).isEmpty();
        }
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
        Path left = Files.createDirectories(server.staging.resolve("request-left"));
        Files.writeString(left.resolve("file-0"), "x");
        io.kinema.serve.body.Staging.clear(server.staging);
        assertThat(left).doesNotExist();
    }
}
