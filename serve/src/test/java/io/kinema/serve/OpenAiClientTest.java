package io.kinema.serve;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kinema.jobs.JobLimits;
import io.kinema.media.image.PngWriter;
import io.kinema.media.image.RgbImage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** OpenAI's own client, which knows nothing of this server, drives it. */
class OpenAiClientTest {
    @TempDir
    private Path folder;

    @Test
    void itsVideosAreMadeWatchedFetchedListedRemixedAndDeleted() throws IOException, InterruptedException {
        NodeTools.require();
        Path picture = Files.write(folder.resolve("first.png"), PngWriter.encode(RgbImage.black(64, 64)));
        Path film = folder.resolve("film.mp4");
        try (TestServer server = TestServer.start(folder, JobLimits.defaults(), SolidFilms::make)) {
            NodeTools.Result run = NodeTools.script("openai-client.mjs", server.uri("/v1").toString(), "a token that is not looked at", picture.toString(),
                    film.toString());
            assertThat(run.exit()).as(run.err()).isZero();
            JsonNode saw = new ObjectMapper().readTree(run.out());
            assertThat(saw.path("plain").path("object").asText()).isEqualTo("video");
            assertThat(saw.path("done").path("status").asText()).isEqualTo("completed");
            assertThat(saw.path("second").path("request").path("task").asText()).isEqualTo("fl2va");
            assertThat(saw.path("second").path("status").asText()).isEqualTo("completed");
            assertThat(saw.path("listed")).as("two pages of one").hasSize(2);
            assertThat(saw.path("contentType").asText()).isEqualTo("video/mp4");
            assertThat(saw.path("thumbnail").asText()).isEqualTo("image/png");
            assertThat(saw.path("remix").path("remixed_from_video_id")).isEqualTo(saw.path("plain").path("id"));
            assertThat(saw.path("deleted").path("deleted").asBoolean()).isTrue();
            assertThat(saw.path("after").path("status").asInt()).isEqualTo(404);
            assertThat(saw.path("refused").path("status").asInt()).isEqualTo(422);
            assertThat(saw.path("refused").path("param").asText()).isEqualTo("seconds");
            assertThat(saw.path("refused").path("message").asText()).startsWith("422 seconds: got 99");
            assertThat(saw.path("models").path(0).asText()).isEqualTo("h3-nano");
            assertThat(SolidFilms.colour(film)).isEqualTo(SolidFilms.colourOf("A red circle moves right on a blue background"));
        }
    }
}
