package io.kinema.serve;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.kinema.media.image.PngWriter;
import io.kinema.media.image.RgbImage;
import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The life of a video, from call to deletion. */
class VideosTest {
    private static final byte[] PICTURE = PngWriter.encode(RgbImage.black(64, 64));

    @TempDir
    private static Path folder;
    private static TestServer server;

    @BeforeAll
    static void start() throws IOException {
        server = TestServer.start(folder);
    }

    @AfterAll
    static void stop() throws InterruptedException {
        server.close();
    }

    @Test
    void aVideoIsRecordedMadeListedFetchedAndDeleted() {
        TestServer.Answer created = server.post("/v1/videos", "{\"prompt\":\"a red circle\",\"seconds\":\"1\",\"size\":\"256x256\",\"seed\":7}");
        assertThat(created.status()).as(created.text()).isEqualTo(202);
        JsonNode video = created.json();
        assertThat(video.path("object").asText()).isEqualTo("video");
        assertThat(video.path("size").asText()).isEqualTo("256x256");
        assertThat(video.path("seconds").isTextual()).isTrue();
        assertThat(video.path("request").path("frames").asInt()).isEqualTo(39);
        String id = video.path("id").asText();
        assertThat(created.header("Location")).isEqualTo("/v1/videos/" + id);

        JsonNode done = server.finished(id);
        assertThat(done.path("status").asText()).isEqualTo("completed");
        assertThat(done.path("progress").asInt()).isEqualTo(100);
        assertThat(done.path("error").isNull()).isTrue();
        assertThat(server.get("/v1/videos").json().path("data").findValuesAsText("id")).contains(id);
        assertThat(server.get("/v1/videos/" + id + "/content").text()).isEqualTo("a red circle 0");

        TestServer.Answer deleted = server.delete("/v1/videos/" + id);
        assertThat(deleted.json().path("object").asText()).isEqualTo("video.deleted");
        assertThat(server.get("/v1/videos/" + id).status()).isEqualTo(404);
        assertThat(server.get("/v1/videos/" + id + "/content").status()).isEqualTo(404);
    }

    /** Field report 21: a request refused in one content type and taken in another. */
    @Test
    void report21TheSameRequestInAnyContentTypeIsTheSameJob() {
        JsonNode json = server.post("/v1/videos", "{\"prompt\":\"a star & a \\u5e3d\\u5b50\",\"num_frames\":22,\"seed\":3,\"strict\":true}").json();
        JsonNode form = server.post("/v1/videos", new Multipart().field("prompt", "a star & a \u5e3d\u5b50").field("num_frames", "22").field("seed", "3")
                .field("strict", "true")).json();
        JsonNode encoded = server.post("/v1/videos", "application/x-www-form-urlencoded",
                "prompt=a+star+%26+a+%E5%B8%BD%E5%AD%90&num_frames=22&seed=3&strict=true".getBytes(StandardCharsets.US_ASCII)).json();
        assertThat(form.path("request")).isEqualTo(json.path("request"));
        assertThat(encoded.path("request")).isEqualTo(json.path("request"));
        assertThat(List.of(form.path("prompt"), encoded.path("prompt"))).containsOnly(json.path("prompt"));
    }

    @Test
    void anUploadedPictureIsTheFirstFrame() throws IOException {
        JsonNode video = server.post("/v1/videos", new Multipart().field("prompt", "a circle").field("size", "256x256")
                .file("input_reference", "../../etc/passwd", "image/png", PICTURE)).json();
        assertThat(video.path("request").path("task").asText()).as("%s", video).isEqualTo("fl2va");
        assertThat(video.path("request").path("keyframes").path(0).path("anchor").asText()).isEqualTo("first");
        assertThat(video.path("request").path("keyframes").path(0).path("file").asText()).isEqualTo("input_reference");
        assertThat(server.finished(video.path("id").asText()).path("status").asText()).isEqualTo("completed");
        assertThat(server.leftInStaging()).isEmpty();
    }

    @Test
    void picturesTakeTheirPlacesInEveryWayToNameThem() {
        String url = "data:image/png;base64," + Base64.getEncoder().encodeToString(PICTURE);
        for (String media : List.of("\"first_image\":\"U\",\"last_image\":\"U\"", "\"image_reference\":[\"U\",{\"image_url\":{\"url\":\"U\"}}]",
                "\"image_reference\":[\"U\",\"U\"],\"keyframe_indices\":[0,-1]", "\"keyframes\":[{\"image_url\":\"U\"},{\"image_url\":\"U\",\"position\":\"last\"}]",
                "\"conditions\":[{\"type\":\"image\",\"uri\":\"U\",\"role\":\"keyframe\",\"frame_index\":0},{\"type\":\"image\",\"uri\":\"U\",\"role\":\"keyframe\",\"frame_index\":-1}]")) {
            JsonNode video = server.post("/v1/videos", "{\"prompt\":\"a circle\"," + media.replace("U", url) + "}").json();
            assertThat(video.path("request").path("keyframes").findValuesAsText("anchor")).as(media + video).containsExactly("first", "last");
        }
        JsonNode references = server.post("/v1/videos", "{\"prompt\":\"a circle\",\"task\":\"ref2va\",\"image_reference\":[\"U\",\"U\",\"U\"]}".replace("U", url)).json();
        assertThat(references.path("request").path("references").findValuesAsText("kind")).as("%s", references).containsExactly("image", "image", "image");
    }

    @Test
    void severalOutputsAreListedOneByOne() {
        String id = server.post("/v1/videos", "{\"prompt\":\"three\",\"n\":3,\"seed\":10}").json().path("id").asText();
        JsonNode done = server.finished(id);
        assertThat(done.path("outputs").findValuesAsText("seed")).containsExactly("10", "11", "12");
        assertThat(server.get("/v1/videos/" + id + "/content?output_index=2").text()).isEqualTo("three 2");
        assertThat(server.get("/v1/videos/" + id + "/content?output_index=3").status()).isEqualTo(404);
    }

    @Test
    void rangesAreAnsweredAsPlayersAsk() {
        String id = server.post("/v1/videos", "{\"prompt\":\"0123456789\"}").json().path("id").asText();
        server.finished(id);
        String path = "/v1/videos/" + id + "/content";
        TestServer.Answer part = server.send(server.request(path).header("Range", "bytes=2-4"));
        assertThat(part.status()).isEqualTo(206);
        assertThat(part.text()).isEqualTo("234");
        assertThat(part.header("Content-Range")).isEqualTo("bytes 2-4/12");
        assertThat(server.send(server.request(path).header("Range", "bytes=-3")).text()).isEqualTo("9 0");
        assertThat(server.send(server.request(path).header("Range", "bytes=9-")).text()).isEqualTo("9 0");
        assertThat(server.send(server.request(path).header("Range", "bytes=0-100000")).text()).isEqualTo("0123456789 0");
        TestServer.Answer beyond = server.send(server.request(path).header("Range", "bytes=12-"));
        assertThat(beyond.status()).isEqualTo(416);
        assertThat(beyond.header("Content-Range")).isEqualTo("bytes */12");
        String tag = part.header("ETag");
        assertThat(server.send(server.request(path).header("If-None-Match", tag)).status()).isEqualTo(304);
        assertThat(server.send(server.request(path).header("Range", "bytes=2-4").header("If-Range", "\"other\"")).status()).isEqualTo(200);
        TestServer.Answer head = server.send(server.request(path).method("HEAD", HttpRequest.BodyPublishers.noBody()));
        assertThat(head.status()).isEqualTo(200);
        assertThat(head.header("Content-Length")).isEqualTo("12");
    }

    @Test
    void aListIsReadPageByPage() {
        List<String> made = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            made.add(server.post("/v1/videos", "{\"prompt\":\"page\"}").json().path("id").asText());
        }
        JsonNode first = server.get("/v1/videos?limit=3").json();
        assertThat(first.path("data").findValuesAsText("id")).containsExactly(made.get(4), made.get(3), made.get(2));
        assertThat(first.path("has_more").asBoolean()).isTrue();
        JsonNode second = server.get("/v1/videos?limit=2&after=" + first.path("last_id").asText()).json();
        assertThat(second.path("data").findValuesAsText("id")).containsExactly(made.get(1), made.get(0));
        assertThat(server.get("/v1/videos?after=video_00000000000000000000000000000000").status()).isEqualTo(404);
        assertThat(server.get("/v1/videos?limit=0").status()).isEqualTo(422);
        assertThat(server.get("/v1/videos?order=up").json().path("detail").asText()).isEqualTo("order: got 'up', expected asc or desc");
    }

    @Test
    void aSyncCallAnswersWithTheFilmAndLeavesNoJob() {
        TestServer.Answer film = server.post("/v1/videos/sync", "{\"prompt\":\"at once\"}");
        assertThat(film.status()).as(film.text()).isEqualTo(200);
        assertThat(film.header("Content-Type")).isEqualTo("video/mp4");
        assertThat(film.text()).isEqualTo("at once 0");
        assertThat(server.get("/v1/videos?limit=100").json().path("data").findValuesAsText("prompt")).doesNotContain("at once");
    }

    @Test
    void aRemixChangesThePromptAlone() {
        String id = server.post("/v1/videos", "{\"prompt\":\"a red circle\",\"seed\":5,\"frames\":22,\"first_image\":\"data:image/png;base64,"
                + Base64.getEncoder().encodeToString(PICTURE) + "\"}").json().path("id").asText();
        server.finished(id);
        JsonNode remix = server.post("/v1/videos/" + id + "/remix", "{\"prompt\":\"a blue circle\"}").json();
        assertThat(remix.path("remixed_from_video_id").asText()).as("%s", remix).isEqualTo(id);
        assertThat(remix.path("prompt").asText()).isEqualTo("a blue circle");
        assertThat(remix.path("request").path("seed").asInt()).isEqualTo(5);
        assertThat(remix.path("request").path("keyframes")).hasSize(1);
        assertThat(server.post("/v1/videos/" + id + "/remix", "{\"prompt\":\"x\",\"seed\":1}").status()).isEqualTo(422);
    }

    @Test
    void anIdempotencyKeyGivesTheSameJobOnce() {
        HttpRequest.Builder first = keyed("{\"prompt\":\"once\"}");
        TestServer.Answer created = server.send(first);
        TestServer.Answer again = server.send(keyed("{\"prompt\":\"once\"}"));
        assertThat(again.json().path("id")).isEqualTo(created.json().path("id"));
        assertThat(again.header("Idempotent-Replayed")).isEqualTo("true");
        TestServer.Answer other = server.send(keyed("{\"prompt\":\"twice\"}"));
        assertThat(other.status()).isEqualTo(422);
        assertThat(other.json().path("field").asText()).isEqualTo("idempotency-key");
    }

    private static HttpRequest.Builder keyed(String json) {
        return keyed("/v1/videos", "key 1", json);
    }

    @Test
    void aCallThatWaitsTakesNoListedVideoWithItsKey() {
        String id = server.send(keyed("/v1/videos", "listed", "{\"prompt\":\"kept\"}")).json().path("id").asText();
        assertThat(server.finished(id).path("status").asText()).isEqualTo("completed");
        assertThat(server.send(keyed("/v1/videos/sync", "listed", "{\"prompt\":\"kept\"}")).status()).isEqualTo(422);
        assertThat(server.get("/v1/videos/" + id + "/content").text()).isEqualTo("kept 0");
    }

    @Test
    void aCallThatWaitsAndItsRepetitionBothGetTheFilm() throws Exception {
        double repeated = meter("kinema_videos_repeated_total");
        server.worker.pause(true);
        try (ExecutorService callers = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<TestServer.Answer>> films = IntStream.range(0, 3).mapToObj(i -> callers.submit(() -> server.send(keyed("/v1/videos/sync", "waits", "{\"prompt\":\"both\"}")))).toList();
            while (meter("kinema_videos_repeated_total") < repeated + 2) {
                TestServer.sleep(5);
            }
            server.worker.pause(false);
            for (Future<TestServer.Answer> film : films) {
                assertThat(film.get().text()).isEqualTo("both 0");
            }
        } finally {
            server.worker.pause(false);
        }
    }

    private static double meter(String name) {
        return server.get("/metrics").text().lines().filter(line -> line.startsWith(name + " ")).mapToDouble(line -> Double.parseDouble(line.substring(name.length() + 1))).sum();
    }

    private static HttpRequest.Builder keyed(String path, String key, String json) {
        return server.request(path).header("Content-Type", "application/json").header("Idempotency-Key", key).POST(HttpRequest.BodyPublishers.ofString(json));
    }

    @Test
    void aDryRunAnswersWithThePlanAndRecordsNothing() {
        TestServer.Answer plan = server.post("/v1/videos", "{\"prompt\":\"only planned\",\"frames\":22,\"steps\":4,\"dry_run\":true}");
        assertThat(plan.status()).as(plan.text()).isEqualTo(200);
        assertThat(plan.json().path("object").asText()).isEqualTo("video.plan");
        assertThat(plan.json().path("plan").path("evaluations").asInt()).isEqualTo(4);
        assertThat(server.get("/v1/videos?limit=100").json().path("data").findValuesAsText("prompt")).doesNotContain("only planned");
    }

    /** A buffered stream would tell everything at the end; this video does not end before its first event has come. */
    @Test
    void eventsArriveWhenTheyHappen() throws IOException, InterruptedException {
        server.worker.pause(true);
        String id = server.post("/v1/videos", "{\"prompt\":\"later\"}").json().path("id").asText();
        HttpRequest ask = HttpRequest.newBuilder(server.uri("/v1/videos/" + id + "/events")).build();
        try (HttpClient client = HttpClient.newHttpClient(); Stream<String> lines = client.send(ask, HttpResponse.BodyHandlers.ofLines()).body()) {
            Iterator<String> data = lines.filter(line -> line.startsWith("data: ")).iterator();
            assertThat(data.next()).contains("\"status\":\"queued\"");
            server.worker.pause(false);
            String last = "";
            while (data.hasNext()) {
                last = data.next();
            }
            assertThat(last).contains("\"status\":\"completed\"");
        } finally {
            server.worker.pause(false);
        }
    }

    /** Each change is made when the one before it has been heard. */
    @Test
    void eventsTellEveryChangeUntilTheEnd(@TempDir Path own) throws IOException, InterruptedException {
        Semaphore steps = new Semaphore(0);
        try (TestServer watched = TestServer.start(own); HttpClient client = HttpClient.newHttpClient()) {
            watched.worker.stepBy(steps);
            watched.worker.pause(true);
            String id = watched.post("/v1/videos", "{\"prompt\":\"watched\"}").json().path("id").asText();
            HttpRequest ask = HttpRequest.newBuilder(watched.uri("/v1/videos/" + id + "/events")).build();
            HttpResponse<Stream<String>> answer = client.send(ask, HttpResponse.BodyHandlers.ofLines());
            assertThat(answer.headers().firstValue("Content-Type").orElse("")).startsWith("text/event-stream");
            try (Stream<String> lines = answer.body()) {
                Iterator<String> data = lines.filter(line -> line.startsWith("data: ")).iterator();
                assertThat(data.next()).contains("\"status\":\"queued\"");
                watched.worker.pause(false);
                for (int step = 0; step <= 2; step++) {
                    heard(data, "\"status\":\"in_progress\"", "\"denoise_progress\":{\"completed\":" + step + ",\"total\":2");
                    steps.release();
                }
                heard(data, "\"status\":\"completed\"");
                assertThat(data.hasNext()).isFalse();
            }
        }
    }

    /** Passes over what comes before it. */
    private static void heard(Iterator<String> data, String... words) {
        String event = "";
        while (data.hasNext()) {
            event = data.next();
            if (Stream.of(words).allMatch(event::contains)) {
                return;
            }
        }
        throw new AssertionError("no event with " + List.of(words) + ", the last was " + event);
    }
}
