package io.kinema.serve;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.kinema.media.image.PngWriter;
import io.kinema.media.image.RgbImage;
import java.io.IOException;
import java.net.http.HttpRequest;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Base64;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Whatever is wrong is said in one sentence, with a 4xx status, and leaves the server as it was. */
class RefusalsTest {
    @TempDir
    private static Path folder;
    private static TestServer server;

    @BeforeAll
    static void start() throws IOException {
        server = TestServer.start(folder);
        server.worker.pause(true);
    }

    @AfterAll
    static void stop() throws InterruptedException {
        server.close();
    }

    @AfterEach
    void healthyAfter() throws IOException {
        assertThat(server.get("/health").status()).isEqualTo(200);
        assertThat(server.leftInStaging()).isEmpty();
        assertThat(server.failures).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            {"prompt":""}                                     | prompt: got an empty text, expected a description of what to see and hear
            {}                                                | prompt: got nothing, expected a description of what to see and hear
            {"prompt":"x","model":"sora-2"}                   | model: got 'sora-2', expected h3-nano, which this server runs
            {"prompt":"x","size":"1280x720"}                  | height: got 720, expected a multiple of 32
            {"prompt":"x","size":"big"}                       | size: got 'big', expected WIDTHxHEIGHT, for example 256x256
            {"prompt":"x","size":"256x256","width":320}       | size: got '256x256', expected it without width and height
            {"prompt":"x","seconds":"99"}                     | seconds: got 99.0, expected
            {"prompt":"x","seconds":1,"frames":22}            | seconds: got 1.0 together with frames 22, expected one or the other
            {"prompt":"x","seconds":"NaN"}                    | seconds: got 'NaN', expected a number
            {"prompt":"x","frames":-1}                        | frames: got -1, expected
            {"prompt":"x","frames":2147483647}                | frames: got 2147483647, expected
            {"prompt":"x","frames":9223372036854775808}       | frames: got 9223372036854775808, expected a whole number
            {"prompt":"x","frames":1e999999999}               | frames: got
            {"prompt":"x","frames":22.5}                      | frames: got 22.5, expected a whole number
            {"prompt":"x","frames":30,"strict":true}          | frames: got 30, expected 17n + 5; the nearest are
            {"prompt":"x","frames":22,"num_frames":39}        | num_frames: got 39, which contradicts frames 22
            {"prompt":"x","seed":-1}                          | seed: got -1, expected 0 to
            {"prompt":"x","outputs":11}                       | outputs: got 11, expected 1 to 10
            {"prompt":"x","num_inference_steps":1}            | num_inference_steps: got 1, expected at least 2
            {"prompt":"x","steps":0}                          | steps: got 0, expected 1 to 1000 model evaluations
            {"prompt":"x","flow_shift":0}                     | flow_shift: got 0.0, expected
            {"prompt":"x","aspect_ratio":"wide"}              | aspect_ratio: got 'wide', expected A:B, for example 16:9, or auto
            {"prompt":"x","task":"i2v"}                       | task: got 'i2v', expected t2va, fl2va or ref2va
            {"prompt":"x","task":"fl2va"}                     | task: got fl2va, which needs a first or last image; give one
            {"prompt":"x","guidance_scale":7}                 | guidance_scale: got 7, expected 1
            {"prompt":"x","negative_prompt":"ugly"}           | negative_prompt: got 'ugly', expected an empty one
            {"prompt":"x","lora":{"name":"style"}}            | lora.name: got 'style', expected none: this server offers no adapters
            {"prompt":"x","lora":{"path":"/etc/passwd"}}      | lora.name: got '/etc/passwd', expected none
            {"prompt":"x","image":["/etc/passwd"]}            | image: got a path on the server, expected an upload or an address
            {"prompt":"x","image":["../../etc/passwd"]}       | image: got a path on the server
            {"prompt":"x","quality":"high"}                   | quality: got 'high', expected lossless
            {"prompt":"x","short_edge":544}                   | short_edge: got 544, expected 256, the model's own
            {"prompt":"x","nonsense":1}                       | nonsense: got an unknown field, expected one of model, prompt,
            {"prompt":"x","keyframe_indices":[3]}             | keyframe_indices[0]: got 3, expected 0 for the first frame or -1 for the last
            {"prompt":"x","keyframe_indices":[0]}             | keyframe_indices: got 1 for 0 pictures, expected one for each picture
            {"prompt":"x","references":[{"type":"text"}]}     | references.type: got 'text', expected image, video
            {"prompt":"x","references":[{"type":"image"}]}    | references: got no address, expected exactly one of
            {"prompt":"x","input_reference":{"file_id":"f"}}  | input_reference.file_id: got a file id, expected image_url
            {"prompt":"x","conditions":[{"type":"image","role":"style","uri":"http://x.org"}]} | conditions.role: got 'style', expected keyframe or reference
            """)
    void aWrongValueIsNamed(String call, String sentence) {
        TestServer.Answer answer = server.post("/v1/videos", call);
        assertThat(answer.json().path("detail").asText()).startsWith(sentence);
        assertThat(answer.status()).isEqualTo(422);
        assertThat(answer.header("Content-Type")).isEqualTo("application/problem+json");
        assertThat(answer.json().path("error").path("message")).isEqualTo(answer.json().path("detail"));
        assertThat(answer.json().path("field").asText()).isNotEmpty();
        assertThat(sentence).startsWith(answer.json().path("field").asText());
    }

    @ParameterizedTest
    @ValueSource(strings = {"", " ", "{", "[]", "null", "1", "\"x\"", "{\"prompt\":\"x\"", "{\"prompt\":\"x\"} {}", "{\"prompt\":\"x\",\"prompt\":\"y\"}", "{'prompt':'x'}",
            "{\"prompt\":\"\u0000\"}", "{\"prompt\":NaN}", "{\"frames\":1e9999999999}", "{\"frames\":0e97777777777777777777}", "\ufeff\ufeff{}"})
    void brokenJsonIsMalformed(String body) {
        TestServer.Answer answer = server.post("/v1/videos", body);
        assertThat(answer.status()).as(answer.text()).isEqualTo(400);
        assertThat(answer.json().path("code").asText()).isEqualTo("malformed");
    }

    @Test
    void deepJsonIsMalformed() {
        assertThat(server.post("/v1/videos", "{\"extra_params\":" + "[".repeat(100_000) + "]".repeat(100_000) + "}").status()).isEqualTo(400);
        assertThat(server.post("/v1/videos", "{\"frames\":" + "1".repeat(100_000) + "}").status()).isEqualTo(400);
        assertThat(server.post("/v1/videos", "{\"" + "k".repeat(100_000) + "\":1}").status()).isEqualTo(400);
    }

    @ParameterizedTest
    @ValueSource(strings = {"text/plain", "application/xml", "multipart/mixed; boundary=x", "", "application/jsonx", "image/png"})
    void otherContentTypesAreRefused(String type) {
        HttpRequest.Builder request = server.request("/v1/videos").POST(HttpRequest.BodyPublishers.ofString("{}"));
        TestServer.Answer answer = server.send(type.isEmpty() ? request : request.header("Content-Type", type));
        assertThat(answer.status()).isEqualTo(415);
    }

    @ParameterizedTest
    @ValueSource(strings = {"--b", "--b--", "--b\r\n\r\n", "--b\r\nContent-Disposition: form-data\r\n\r\nx\r\n--b--\r\n",
            "--b\r\nContent-Disposition: form-data; name=\"prompt\"\r\n\r\nnever ends", "--c\r\nContent-Disposition: form-data; name=\"prompt\"\r\n\r\nx\r\n--c--\r\n",
            "--b\r\nContent-Disposition: form-data; name=\"prompt\"\r\n\r\nx\r\n--b\r\nContent-Disposition: form-data; name=\"prompt\"\r\n\r\ny\r\n--b--\r\n",
            "--b\r\nContent-Disposition: form-data; name=\"input_reference\"; filename=\"x\"\r\n\r\nhalf a file"})
    void brokenMultipartIsMalformed(String body) {
        TestServer.Answer answer = server.post("/v1/videos", "multipart/form-data; boundary=b", body.getBytes(StandardCharsets.UTF_8));
        assertThat(answer.status()).as(answer.text()).isBetween(400, 422);
    }

    @ParameterizedTest
    @ValueSource(strings = {"multipart/form-data", "multipart/form-data; boundary=", "multipart/form-data; boundary=\"unterminated", "multipart/form-data; boundary=\"a\" b\"",
            "multipart/form-data; boundary=0123456789012345678901234567890123456789012345678901234567890123456789x"})
    void unusableBoundariesAreMalformed(String type) {
        assertThat(server.post("/v1/videos", type, "--b--".getBytes(StandardCharsets.US_ASCII)).status()).isEqualTo(400);
    }

    @Test
    void aFileInAFieldThatTakesNoneIsRefused() {
        assertThat(server.post("/v1/videos", new Multipart().field("prompt", "x").file("mask", "m.png", "image/png", new byte[10])).status()).isEqualTo(422);
        assertThat(server.post("/v1/videos", new Multipart().field("prompt", "x").file("prompt", "m.png", "image/png", new byte[10])).status()).isEqualTo(422);
    }

    @Test
    void thirteenFilesAreOneTooMany() {
        Multipart form = new Multipart().field("prompt", "x");
        for (int i = 0; i < 13; i++) {
            form.file("image_reference", "x.png", "image/png", new byte[] {1});
        }
        assertThat(server.post("/v1/videos", form).json().path("detail").asText()).isEqualTo("references: got more than 12 files, expected at most that many");
    }

    @Test
    void aFileIsJudgedByWhatItIsNotByWhatItIsCalled() {
        TestServer.Answer text = server.post("/v1/videos", new Multipart().field("prompt", "x").file("input_reference", "x.png", "image/png", "<svg/>".getBytes(StandardCharsets.UTF_8)));
        assertThat(text.json().path("detail").asText()).isEqualTo("input_reference: got a file of an unknown kind, expected PNG, JPEG, WebP or HEIC; MP4, MOV or WebM; WAV, "
                + "MP3 or another sound");
        TestServer.Answer video = server.post("/v1/videos", new Multipart().field("prompt", "x").file("video_reference", "x.mp4", "video/mp4",
                PngWriter.encode(RgbImage.black(64, 64))));
        assertThat(video.json().path("detail").asText()).isEqualTo("video_reference: got a picture, expected a video");
    }

    @Test
    void aBrokenPictureIsNamedByItsFieldAndNotByAPath() {
        byte[] png = java.util.Arrays.copyOf(PngWriter.encode(RgbImage.black(64, 64)), 20);
        JsonNode problem = server.post("/v1/videos", new Multipart().field("prompt", "x").file("first_image", "x.png", "image/png", png)).json();
        assertThat(problem.path("status").asInt()).isEqualTo(422);
        assertThat(problem.path("detail").asText()).contains("first_image").doesNotContain("/", "request-", "file-0");
    }

    @Test
    void aPictureOfAFewPixelsIsNamedByItsField() {
        String tiny = Base64.getEncoder().encodeToString(PngWriter.encode(RgbImage.black(2, 2)));
        JsonNode problem = server.post("/v1/videos", "{\"prompt\":\"x\",\"first_image\":\"data:image/png;base64," + tiny + "\"}").json();
        assertThat(problem.path("detail").asText()).isEqualTo("first_image: got 2x2 pixels in first_image, expected sides of at least 16; choose a larger picture");
    }

    @ParameterizedTest
    @ValueSource(strings = {"/v1/videos/..", "/v1/videos/%2e%2e", "/v1/videos/video_x", "/v1/videos/..%2f..%2fetc%2fpasswd", "/v1/videos/video_00000000000000000000000000000000",
            "/v1/videos/video_0000000000000000000000000000000G/content", "/studio/..%2f..%2fopenapi.json", "/studio/%2e%2e/openapi.json", "/studio/../../etc/passwd",
            "/studio/..;/openapi.json", "/studio//etc/passwd", "/studio/.git/config", "/studio/%00", "/studio/a%5c..%5cb", "/v1//videos", "/v1/videos/%ff", "/nowhere",
            "/studio/package-info.class", "/../../etc/passwd", "/v1/videos/%2e%2e%2f%2e%2e%2fmetrics"})
    void pathsLeadNowhereElse(String path) throws IOException {
        String answer = RawHttp.send(server.port(), "GET " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        assertThat(answer).as(answer).matches("(?s)HTTP/1.1 4\\d\\d.*").doesNotContain("root:");
        assertThat(answer).contains("application/problem+json");
    }

    @Test
    void otherMethodsAreNotAllowed() {
        assertThat(server.send(server.request("/v1/videos").PUT(HttpRequest.BodyPublishers.noBody())).status()).isEqualTo(405);
        assertThat(server.send(server.request("/v1/videos").DELETE()).status()).isEqualTo(405);
        assertThat(server.send(server.request("/v1/videos/sync").method("PATCH", HttpRequest.BodyPublishers.noBody())).status()).isEqualTo(405);
        assertThat(server.get("/nowhere").json().path("detail").asText()).isEqualTo("path: got one that leads nowhere, expected one of /openapi.json");
    }

    @Test
    void everyAnswerBearsItsHeaders() {
        for (TestServer.Answer answer : new TestServer.Answer[] {server.get("/v1/videos"), server.get("/nowhere"), server.post("/v1/videos", "{")}) {
            assertThat(answer.header("X-Content-Type-Options")).isEqualTo("nosniff");
            assertThat(answer.header("Content-Security-Policy")).startsWith("default-src 'none'");
            assertThat(answer.header("Server")).isEmpty();
        }
    }

    @Test
    void contentOfAWaitingVideoIsAConflict() {
        String id = server.post("/v1/videos", "{\"prompt\":\"waits\"}").json().path("id").asText();
        TestServer.Answer content = server.get("/v1/videos/" + id + "/content");
        assertThat(content.status()).isEqualTo(409);
        assertThat(server.get("/v1/videos/" + id).json().path("status").asText()).isEqualTo("queued");
        assertThat(server.post("/v1/videos/" + id + "/remix", "{\"prompt\":\"y\"}").status()).isEqualTo(409);
        assertThat(server.post("/v1/videos/" + id + "/cancel", "").json().path("status").asText()).isEqualTo("cancelled");
        assertThat(server.get("/v1/videos/" + id).json().path("error").path("code").asText()).isEqualTo("cancelled");
    }
}
