package io.kinema.serve;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.kinema.media.image.PngWriter;
import io.kinema.media.image.RgbImage;
import io.kinema.media.video.Mp4Format;
import io.kinema.media.video.Mp4Writer;
import io.kinema.serve.fetch.FetchPolicy;
import io.kinema.serve.fetch.WebServer;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The bodies of MiniMax's own request scripts, with shorter prompts and files of ours. */
class MiniMaxScriptsTest {
    private static final InetAddress WEB = InetAddress.ofLiteral("127.0.0.2");

    @TempDir
    private Path folder;
    private WebServer web;
    private TestServer server;

    @BeforeEach
    void start() throws IOException {
        web = new WebServer("127.0.0.2").file("/inputs/", PngWriter.encode(RgbImage.black(320, 192)));
        server = TestServer.start(folder, options -> options.fetching(new FetchPolicy(Set.of(), WEB::equals, host -> List.of(WEB), TestServer.A_WHILE, 3, 8)));
    }

    @AfterEach
    void stop() throws InterruptedException {
        server.close();
        web.close();
    }

    private String url(String path) {
        return "http://cdn.example.com:" + web.port() + path;
    }

    private JsonNode made(String call) {
        TestServer.Answer created = server.post("/v1/videos", call);
        assertThat(created.status()).as(created.text()).isEqualTo(202);
        JsonNode done = server.finished(created.json().path("id").asText());
        assertThat(done.path("status").asText()).isEqualTo("completed");
        assertThat(server.get("/v1/videos/" + done.path("id").asText() + "/content").status()).isEqualTo(200);
        return done;
    }

    @Test
    void t2va() {
        JsonNode video = made("""
                {"task": "t2va", "prompt": "integrated_multimodal_description: [Shot 1] Cinematic.\\noverall_soundscape: A hum.", "conditions": [
                ], "target": {"short_edge": 768, "aspect_ratio": "16:9", "duration_seconds": 10}, "seed": 0}""");
        assertThat(video.path("request").path("task").asText()).isEqualTo("t2va");
        assertThat(video.path("request").path("frames").asInt()).isEqualTo(243);
        assertThat(video.path("notes").toString()).contains("short_edge 768 becomes 256, this model's own");
    }

    @Test
    void fl2va() {
        JsonNode video = made("""
                {"task": "fl2va", "prompt": "<Picture 1> (from [Shot 1]) is fully referenced.", "conditions": [{"type": "image", "uri": "%s", "role": "keyframe",
                "frame_index": 0}], "target": {"short_edge": 768, "aspect_ratio": "auto", "duration_seconds": 8}, "seed": 0}""".formatted(url("/inputs/4a3a90bf9100.png")));
        assertThat(video.path("request").path("keyframes").findValuesAsText("anchor")).containsExactly("first");
        assertThat(video.path("notes").toString()).contains("from the shape of the first keyframe (320x192)");
    }

    @Test
    void ref2va() throws IOException {
        Path clip = clip();
        Path sound = folder.resolve("voice.wav");
        io.kinema.media.audio.WavWriter.write(new io.kinema.media.audio.Sound(32_000, new float[][] {new float[96_000], new float[96_000]}), sound);
        web.file("/video", Files.readAllBytes(clip)).file("/sound", Files.readAllBytes(sound));
        JsonNode video = made("""
                {"task": "ref2va", "prompt": "<Subject 1> is in <Video 1>. <Audio 2> is the voice.", "conditions": [{"type": "video", "uri": "%s", "role": "reference"},
                {"type": "audio", "uri": "%s", "role": "reference"}], "target": {"short_edge": 768, "aspect_ratio": "auto", "duration_seconds": 5}, "seed": 0}"""
                .formatted(url("/video/297573323635_00_%E8%A7%86%E9%A2%911.mp4"), url("/sound/_01_%E9%9F%B3%E9%A2%911(1).mp3")));
        assertThat(video.path("request").path("references").findValuesAsText("kind")).as("the video's own sound is Audio 1").containsExactly("video+sound", "audio");
    }

    /** Our own list says what it wants: a video's sound would shift the numbers of the sounds behind it. */
    @Test
    void referencesTakeASoundtrackOnlyWhenAsked() throws IOException {
        web.file("/video", Files.readAllBytes(clip()));
        JsonNode video = made("""
                {"prompt": "<Video 1> goes on", "references": [{"type": "video", "url": "%1$s"}, {"type": "video+sound", "url": "%1$s"}, {"type": "video-only", "url": "%1$s"}],
                "seconds": 1}""".formatted(url("/video/a.mp4")));
        assertThat(video.path("request").path("references").findValuesAsText("kind")).containsExactly("video", "video+sound", "video");
    }

    private Path clip() throws IOException {
        Path clip = folder.resolve("clip.mp4");
        try (Mp4Writer writer = Mp4Writer.open(clip, Mp4Format.of(64, 64, 72))) {
            writer.writeAudio(new float[96_000], new float[96_000]);
            for (int i = 0; i < 72; i++) {
                writer.writeFrame(new byte[64 * 64 * 3]);
            }
            writer.commit();
        }
        return clip;
    }
}
