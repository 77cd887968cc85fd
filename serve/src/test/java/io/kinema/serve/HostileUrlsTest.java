package io.kinema.serve;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import io.kinema.serve.fetch.AddressRule;
import io.kinema.serve.fetch.FetchPolicy;
import io.kinema.serve.fetch.HostileUrls;
import io.kinema.serve.fetch.WebServer;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Field report 22: the server fetched private addresses for anyone. */
class HostileUrlsTest {
    @TempDir
    private static Path folder;
    private static TestServer server;
    private static WebServer inside;

    @BeforeAll
    static void start() throws IOException {
        inside = new WebServer("127.0.0.1").file("/", new byte[] {(byte) 0x89, 'P', 'N', 'G'});
        server = TestServer.start(folder, options -> options.fetching(new FetchPolicy(Set.of(), AddressRule.PUBLIC, HostileUrls.resolver(), TestServer.A_WHILE, 3, 8)));
    }

    @AfterAll
    static void stop() throws InterruptedException {
        server.close();
        inside.close();
    }

    static List<String> urls() {
        return HostileUrls.all().toList();
    }

    @ParameterizedTest
    @MethodSource("urls")
    void report22IsRefused(String url) throws IOException {
        String call = JsonNodeFactory.instance.objectNode().put("prompt", "x").put("input_reference", url).toString();
        TestServer.Answer answer = server.post("/v1/videos", call);
        assertThat(answer.status()).as(answer.text()).isEqualTo(422);
        assertThat(answer.json().path("detail").asText()).startsWith("input_reference: got ").doesNotContain("127.0.0.1", "Exception");
        assertThat(server.leftInStaging()).isEmpty();
    }

    @Test
    void report22IsRefusedWhereverAnAddressMayStand() {
        String url = "http://127.0.0.1:" + inside.port() + "/";
        for (String media : List.of("\"first_image\":\"U\"", "\"last_image\":{\"image_url\":\"U\"}", "\"image_reference\":[{\"url\":\"U\"}]", "\"video_reference\":{\"video_url\":{\"url\":\"U\"}}",
                "\"audio_reference\":\"U\"", "\"keyframes\":[{\"uri\":\"U\"}]", "\"references\":[{\"type\":\"image\",\"uri\":\"U\"}]",
                "\"conditions\":[{\"type\":\"image\",\"uri\":\"U\",\"role\":\"keyframe\"}]", "\"extra_params\":{\"input_references\":[\"U\"]}")) {
            TestServer.Answer answer = server.post("/v1/videos", "{\"prompt\":\"x\"," + media.replace("U", url) + "}");
            assertThat(answer.status()).as(media).isEqualTo(422);
            assertThat(answer.json().path("detail").asText()).as(media).contains("not on the public internet");
        }
        assertThat(inside.requests()).isZero();
    }

    @Test
    void thereAreAtLeastFortyAndTheServerIsHealthy() {
        assertThat(urls()).hasSizeGreaterThan(40);
        assertThat(server.get("/health").status()).isEqualTo(200);
        assertThat(server.failures).isEmpty();
    }
}
