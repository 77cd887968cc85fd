package io.kinema.serve;

import static org.assertj.core.api.Assertions.assertThat;

import io.kinema.serve.body.BodyLimits;
import io.kinema.serve.http.AccessKeys;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Refusals of which the server is sure before the body has come: the client, which sends all of it first, must still hear them. */
class EarlyRefusalsTest {
    private static final String KEY = "0123456789abcdef0123456789abcdef";
    private static final int LENGTH = 3_000_000;
    private static final BodyLimits LIMITS = new BodyLimits(100_000, 10_000, 4_000_000, 2_000_000, 20_000, 3, 8, Duration.ofMinutes(1), 100_000, 2);

    @TempDir
    private Path folder;
    private TestServer server;

    @BeforeEach
    void start() throws IOException {
        server = TestServer.start(folder, options -> options.bodies(LIMITS).keys(AccessKeys.parse(KEY)));
    }

    @AfterEach
    void stop() throws IOException, InterruptedException {
        assertThat(server.failures).isEmpty();
        assertThat(server.leftInStaging()).isEmpty();
        server.close();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            413 | POST   | /v1/videos       | application/json                 | localhost     | key  | {"prompt":"
            413 | POST   | /v1/videos       | application/x-www-form-urlencoded | localhost    | key  | prompt=
            413 | POST   | /v1/videos       | multipart/form-data; boundary=b  | localhost     | key  | --b~Content-Disposition: form-data; name="prompt"~~
            400 | POST   | /v1/videos       | multipart/form-data              | localhost     | key  | --b
            415 | POST   | /v1/videos       | text/plain                       | localhost     | key  | x
            401 | POST   | /v1/videos       | application/json                 | localhost     | none | {"prompt":"
            421 | POST   | /v1/videos       | application/json                 | evil.example  | key  | {"prompt":"
            404 | POST   | /v1/nowhere      | application/json                 | localhost     | key  | {"prompt":"
            405 | PUT    | /v1/videos       | application/json                 | localhost     | key  | {"prompt":"
            404 | POST   | /v1/videos/x/remix | application/json               | localhost     | key  | {"prompt":"
            404 | DELETE | /v1/videos/x     | application/json                 | localhost     | key  | {"prompt":"
            """)
    void aClientThatSendsItsWholeBodyFirstHearsTheRefusal(int status, String method, String path, String type, String host, String key, String begin) throws IOException {
        for (boolean chunked : List.of(false, true)) {
            try (Socket socket = RawHttp.open(server.port())) {
                OutputStream out = socket.getOutputStream();
                out.write(head(method, path, type, host, key.equals("key"), chunked ? "Transfer-Encoding: chunked" : "Content-Length: " + LENGTH));
                byte[] body = (begin.replace("~", "\r\n") + "x".repeat(LENGTH)).substring(0, LENGTH).getBytes(StandardCharsets.US_ASCII);
                sendAround(socket, body, chunked);
                assertThat(answer(socket.getInputStream())).as("chunked %s", chunked).startsWith("HTTP/1.1 " + status).endsWith("}");
            }
        }
    }

    @Test
    void brokenJsonIsRefusedBeforeItsEnd() throws IOException {
        try (Socket socket = RawHttp.open(server.port())) {
            byte[] body = ("{\"extra_params\":" + "[".repeat(90_000)).getBytes(StandardCharsets.US_ASCII);
            socket.getOutputStream().write(head("POST", "/v1/videos", "application/json", "localhost", true, "Content-Length: " + body.length));
            sendAround(socket, body, false);
            assertThat(answer(socket.getInputStream())).startsWith("HTTP/1.1 400").endsWith("}");
            socket.getOutputStream().write("GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            assertThat(RawHttp.rest(socket)).as("the next request of the connection").startsWith("HTTP/1.1 200");
        }
    }

    @Test
    void aClientThatAsksBeforeItSendsIsNotToldToContinue() throws IOException {
        String request = new String(head("POST", "/v1/videos", "application/json", "localhost", true, "Content-Length: " + LENGTH + "\r\nExpect: 100-continue"), StandardCharsets.US_ASCII);
        assertThat(RawHttp.send(server.port(), request)).startsWith("HTTP/1.1 413").endsWith("}");
    }

    @ParameterizedTest
    @CsvSource({"POST, HTTP/1.0", "HEAD, HTTP/1.1", "HEAD, HTTP/1.0", "PUT, HTTP/1.0"})
    void oldClientsAndThoseThatWantNoBodyHearTheRefusal(String method, String version) throws IOException {
        try (Socket socket = RawHttp.open(server.port())) {
            String head = new String(head(method, "/v1/nowhere", "text/plain", "localhost", true, "Content-Length: " + LENGTH), StandardCharsets.US_ASCII);
            socket.getOutputStream().write(head.replace("HTTP/1.1", version).getBytes(StandardCharsets.US_ASCII));
            sendAround(socket, "x".repeat(LENGTH).getBytes(StandardCharsets.US_ASCII), false);
            socket.shutdownOutput();
            assertThat(RawHttp.rest(socket)).startsWith("HTTP/1.1 404").endsWith(method.equals("HEAD") ? "\r\n\r\n" : "}");
        }
    }

    @Test
    void requestsThatComeInOneGoAreAnsweredInOrder() throws IOException {
        String refused = new String(head("POST", "/v1/videos", "text/plain", "localhost", true, "Content-Length: 70000"), StandardCharsets.US_ASCII) + "x".repeat(70_000);
        String chunked = new String(head("PUT", "/v1/videos", "text/plain", "localhost", true, "Transfer-Encoding: chunked"), StandardCharsets.US_ASCII) + "3\r\nabc\r\n0\r\n\r\n";
        String answers = RawHttp.send(server.port(), refused + chunked + refused + "GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        assertThat(answers.lines().filter(line -> line.contains("HTTP/1.1 ")).map(line -> line.replaceAll(".*HTTP/1.1 (\\d+).*", "$1"))).containsExactly("415", "405", "415", "200");
    }

    @Test
    void aBodyThatBreaksOffOrCannotBeReadHarmsNobody() throws IOException {
        for (String body : List.of("zz\r\nabc\r\n", "5\r\nab")) {
            try (Socket socket = RawHttp.open(server.port())) {
                socket.getOutputStream().write(head("POST", "/v1/nowhere", "text/plain", "localhost", true, "Transfer-Encoding: chunked"));
                socket.getOutputStream().write(body.getBytes(StandardCharsets.US_ASCII));
                socket.shutdownOutput();
                assertThat(RawHttp.rest(socket)).as(body).startsWith("HTTP/1.1 4");
            }
        }
    }

    @Test
    void aClientThatNeverEndsIsCutOff() throws IOException {
        try (Socket socket = RawHttp.open(server.port())) {
            OutputStream out = socket.getOutputStream();
            out.write(head("POST", "/v1/videos", "text/plain", "localhost", true, "Content-Length: 99999999999"));
            byte[] more = new byte[100_000];
            int sent = 0;
            try {
                for (; sent < 1000; sent++) {
                    out.write(more);
                }
            } catch (IOException cutOff) {
                // As it should.
            }
            assertThat(sent).isLessThan(1000);
        }
    }

    private static byte[] head(String method, String path, String type, String host, boolean key, String length) {
        return (method + " " + path + " HTTP/1.1\r\nHost: " + host + "\r\nContent-Type: " + type + "\r\n" + length + "\r\n" + (key ? "Authorization: Bearer " + KEY + "\r\n" : "") + "\r\n")
                .getBytes(StandardCharsets.US_ASCII);
    }

    /** Half of the body, then a wait until the answer is there, then the other half in pieces: a server that closed after its answer resets. */
    private static void sendAround(Socket socket, byte[] body, boolean chunked) throws IOException {
        int half = body.length / 2;
        piece(socket.getOutputStream(), body, 0, half, chunked);
        for (int look = 0; look < 3000 && socket.getInputStream().available() == 0; look++) {
            TestServer.sleep(10);
        }
        for (int at = half; at < body.length; at += 10_000) {
            piece(socket.getOutputStream(), body, at, Math.min(10_000, body.length - at), chunked);
        }
        if (chunked) {
            socket.getOutputStream().write("0\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
        }
    }

    private static void piece(OutputStream out, byte[] body, int from, int length, boolean chunked) throws IOException {
        if (chunked) {
            out.write((Integer.toHexString(length) + "\r\n").getBytes(StandardCharsets.US_ASCII));
        }
        out.write(body, from, length);
        if (chunked) {
            out.write("\r\n".getBytes(StandardCharsets.US_ASCII));
        }
    }

    /** One answer, of the length that it states. */
    private static String answer(InputStream in) throws IOException {
        ByteArrayOutputStream head = new ByteArrayOutputStream();
        while (!head.toString(StandardCharsets.ISO_8859_1).endsWith("\r\n\r\n")) {
            int next = in.read();
            assertThat(next).as("after %s", head).isNotNegative();
            head.write(next);
        }
        String text = head.toString(StandardCharsets.ISO_8859_1);
        String length = text.lines().filter(line -> line.toLowerCase(java.util.Locale.ROOT).startsWith("content-length:")).findFirst().orElseThrow();
        return text + new String(in.readNBytes(Integer.parseInt(length.substring(length.indexOf(':') + 1).strip())), StandardCharsets.ISO_8859_1);
    }
}
