package io.kinema.serve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import io.kinema.jobs.JobLimits;
import io.kinema.media.image.PngWriter;
import io.kinema.media.image.RgbImage;
import io.kinema.serve.http.AccessKeys;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Who may call, by which name, and what the server gives away. */
class SafetyTest {
    private static final String ALICE = "alices-secret-token-0123456789";
    private static final String BOB = "bobs-secret-token-0123456789";

    @TempDir
    private Path folder;

    @Test
    void aServerWithoutKeysIsReachedFromThisMachineOnly() {
        assertThatThrownBy(() -> ServeOptions.on("0.0.0.0", 8000, folder)).isInstanceOf(IllegalArgumentException.class)
                .hasMessage("host: got '0.0.0.0', which others can reach, without a token; give --token-file, or listen on 127.0.0.1");
        assertThatThrownBy(() -> ServeOptions.on("::", 8000, folder)).isInstanceOf(IllegalArgumentException.class);
        assertThat(ServeOptions.on("localhost", 8000, folder).keys().open()).isTrue();
    }

    @Test
    void keysOpenTheApiAndEachSeesItsOwnVideos() throws IOException, InterruptedException {
        try (TestServer server = TestServer.start(folder, options -> options.keys(AccessKeys.parse("# two people\nalice=" + ALICE + "\n" + BOB)))) {
            for (String path : List.of("/v1/videos", "/v1/models", "/v1/capabilities", "/metrics", "/v1/videos/x", "/v1/videos/x/content", "/v1/videos/x/events")) {
                TestServer.Answer answer = server.get(path);
                assertThat(answer.status()).as(path).isEqualTo(401);
                assertThat(answer.header("WWW-Authenticate")).isEqualTo("Bearer");
                assertThat(answer.text()).doesNotContain(ALICE, "alice");
            }
            for (String path : List.of("/health", "/health/live", "/health/ready", "/openapi.json")) {
                assertThat(server.get(path).status()).as(path).isEqualTo(200);
            }
            for (String wrong : List.of("Bearer", "Bearer ", "Bearer " + ALICE + "x", "Bearer " + ALICE.substring(1), "Basic " + ALICE, ALICE)) {
                assertThat(server.send(server.request("/v1/videos").header("Authorization", wrong)).status()).as(wrong).isEqualTo(401);
            }
            String id = server.send(server.request("/v1/videos").header("Authorization", "Bearer " + ALICE).header("Content-Type", "application/json")
                    .POST(java.net.http.HttpRequest.BodyPublishers.ofString("{\"prompt\":\"alice's\"}"))).json().path("id").asText();
            assertThat(as(server, "bearer " + ALICE, "/v1/videos/" + id).status()).isEqualTo(200);
            assertThat(as(server, "Bearer " + ALICE, "/v1/videos").json().path("data")).hasSize(1);
            for (String path : List.of("", "/content", "/events")) {
                assertThat(as(server, "Bearer " + BOB, "/v1/videos/" + id + path).status()).as(path).isEqualTo(404);
            }
            assertThat(as(server, "Bearer " + BOB, "/v1/videos").json().path("data")).isEmpty();
        }
    }

    @Test
    void nobodysVideoIsMaterialForAnother() throws IOException, InterruptedException {
        try (TestServer server = TestServer.start(folder, options -> options.keys(AccessKeys.parse("alice=" + ALICE + "\nbob=" + BOB)))) {
            String id = submit(server, ALICE, "{\"prompt\":\"alice's\"}").json().path("id").asText();
            while (!as(server, "Bearer " + ALICE, "/v1/videos/" + id).json().path("status").asText().equals("completed")) {
                TestServer.sleep(5);
            }
            for (String role : List.of("video_reference", "input_reference")) {
                String call = "{\"prompt\":\"x\",\"" + role + "\":{\"video_id\":\"%s\"}}";
                String unknown = submit(server, BOB, call.formatted(io.kinema.jobs.JobId.random())).text();
                assertThat(unknown).contains("an earlier video that has no such output");
                assertThat(submit(server, BOB, call.formatted(id)).text()).as(role).isEqualTo(unknown);
                assertThat(submit(server, ALICE, call.formatted(id)).text()).as(role).doesNotContain("an earlier video");
            }
        }
    }

    private static TestServer.Answer submit(TestServer server, String token, String json) {
        return server.send(server.request("/v1/videos").header("Authorization", "Bearer " + token).header("Content-Type", "application/json")
                .POST(java.net.http.HttpRequest.BodyPublishers.ofString(json)));
    }

    @Test
    void aKeyThatFillsItsShareLeavesTheOthersTheirs() throws IOException, InterruptedException {
        JobLimits limits = new JobLimits(10, 2, Duration.ofHours(1));
        try (TestServer server = TestServer.start(folder, limits, options -> options.keys(AccessKeys.parse("alice=" + ALICE + "\nbob=" + BOB)))) {
            server.worker.pause(true);
            assertThat(List.of(submitted(server, ALICE), submitted(server, ALICE), submitted(server, ALICE), submitted(server, BOB))).containsExactly(202, 202, 429, 202);
        }
    }

    private static int submitted(TestServer server, String token) {
        return submit(server, token, "{\"prompt\":\"x\"}").status();
    }

    private static TestServer.Answer as(TestServer server, String authorization, String path) {
        return server.send(server.request(path).header("Authorization", authorization));
    }

    @Test
    void unusableTokensAreRefusedWithoutBeingShown() {
        for (String text : List.of("", "# nothing\n", "short", "a token with blanks in it", "name=short")) {
            assertThatThrownBy(() -> AccessKeys.parse(text)).isInstanceOf(IllegalArgumentException.class).hasMessageStartingWith("token: ").message()
                    .doesNotContain("short", "blanks in");
        }
        assertThat(AccessKeys.parse("c29tZSBiYXNlNjQgdG9rZW4=").caller("Bearer c29tZSBiYXNlNjQgdG9rZW4=").owner()).hasValueSatisfying(owner ->
                assertThat(owner).startsWith("key-"));
    }

    @Test
    void otherNamesAndOtherSitesAreTurnedAway() throws IOException, InterruptedException {
        try (TestServer server = TestServer.start(folder, options -> options.hostNames(Set.of("studio.example")))) {
            for (String host : List.of("localhost", "127.0.0.1", "[::1]", "LOCALHOST:8000", "localhost.", "studio.example:443", "127.0.0.1:1")) {
                assertThat(status(server, "GET", "Host: " + host)).as(host).isEqualTo(200);
            }
            for (String host : List.of("evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "10.0.0.1", "0.0.0.0", "evil.example:8000", "")) {
                assertThat(status(server, "GET", "Host: " + host)).as(host).isIn(400, 421);
            }
            assertThat(status(server, "POST", "Host: localhost:1\r\nOrigin: http://localhost:1")).isEqualTo(415);
            assertThat(status(server, "POST", "Host: localhost:1\r\nSec-Fetch-Site: same-origin")).isEqualTo(415);
            for (String header : List.of("Origin: https://evil.example", "Origin: null", "Origin: http://localhost:2", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Site: same-site")) {
                assertThat(status(server, "POST", "Host: localhost:1\r\n" + header)).as(header).isEqualTo(403);
            }
            assertThat(status(server, "GET", "Host: localhost:1\r\nOrigin: https://evil.example")).isEqualTo(403);
        }
    }

    private static int status(TestServer server, String method, String headers) throws IOException {
        String answer = RawHttp.send(server.port(), method + " /v1/videos HTTP/1.1\r\n" + headers + "\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        return Integer.parseInt(answer.substring(9, 12));
    }

    @Test
    void serverSideFilesAreThoseBelowTheRootOnly() throws IOException, InterruptedException {
        Path root = Files.createDirectories(folder.resolve("offered"));
        byte[] png = PngWriter.encode(RgbImage.black(64, 64));
        Files.write(root.resolve("inside.png"), png);
        Path outside = Files.write(folder.resolve("outside.png"), png);
        Files.createSymbolicLink(root.resolve("link.png"), outside);
        Files.createSymbolicLink(root.resolve("parent"), folder);
        try (TestServer server = TestServer.start(folder, options -> options.files(Optional.of(root)))) {
            assertThat(pathStatus(server, "inside.png")).isEqualTo(202);
            assertThat(pathStatus(server, root.resolve("inside.png").toString())).isEqualTo(202);
            for (String path : List.of("link.png", "../outside.png", "parent/outside.png", outside.toString(), "/etc/passwd", "", ".", "missing.png", "inside.png/x", "\u0000", "../offered/../outside.png",
                    "/proc/self/environ", "inside.png\u0000.jpg")) {
                TestServer.Answer answer = path(server, path);
                assertThat(answer.status()).as(path).isEqualTo(422);
                assertThat(answer.json().path("detail").asText()).as(path).isEqualTo("image: got a path that leads to no file here, expected one below the folder that this server offers");
            }
        }
    }

    private static int pathStatus(TestServer server, String path) {
        return path(server, path).status();
    }

    private static TestServer.Answer path(TestServer server, String path) {
        var call = JsonNodeFactory.instance.objectNode().put("prompt", "x");
        call.putArray("image").add(path);
        return server.post("/v1/videos", call.toString());
    }

    @Test
    void metersSayNothingOfWhatClientsWrote() throws IOException, InterruptedException {
        try (TestServer server = TestServer.start(folder)) {
            server.post("/v1/videos", "{\"prompt\":\"a secret wish\"}");
            server.get("/v1/videos/secret-id?secret=query");
            server.get("/secret/path");
            String meters = server.get("/metrics").text();
            assertThat(meters).doesNotContain("secret", "wish").contains("kinema_videos_submitted_total 1.0").contains("kinema_jobs{state=\"queued\"}")
                    .contains("http_server_requests_seconds_count{method=\"POST\",route=\"/v1/videos\",status=\"202\"} 1").contains("route=\"none\",status=\"404\"");
        }
    }
}
