package io.kinema.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.kinema.media.container.HeaderReader;
import io.kinema.media.container.MediaHeader;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code kinema serve}, as a user starts it. */
class ServeTest {
    private static final int TERMINATED = 143;

    @TempDir
    private Path folder;

    @BeforeAll
    static void build() {
        Shell.Result first = Shell.bare(Shell.ROOT).kinema("--version");
        assertThat(first.exit()).as(first.err()).isZero();
    }

    /** What it prints at the start is enough to make a clip; told to stop, it stops in the time that it said. */
    @Test
    void thePrintedCommandMakesAClipAndSigtermStops() throws IOException, InterruptedException {
        Process serve = Shell.bare(folder).start(Shell.ROOT.resolve("kinema").toString(), "serve", "--port", "0", "--data", "a folder");
        try (BufferedReader out = serve.inputReader(StandardCharsets.UTF_8)) {
            String greeting = line(out, "Kinema serves h3-nano at http://127.0.0.1:");
            String curl = line(out, "  curl ");
            String last = line(out, "Studio is at ");
            assertThat(status(greeting.replaceAll(".*(http://[^ ]+)\\. .*", "$1") + "/health/live")).isEqualTo(200);

            assumeTrue(Shell.bare(folder).bash("command -v curl").exit() == 0, "no curl here: the printed command is not run; apt-get install curl");
            Shell.Result made = Shell.bare(folder).bash(curl.replace("\"frames\":39,\"steps\":8", "\"frames\":22,\"steps\":2"));
            assertThat(made.exit()).as(made.err()).isZero();
            MediaHeader clip = HeaderReader.read(folder.resolve("clip.mp4"));
            assertThat(clip.video()).hasValueSatisfying(video -> assertThat(video.frames()).isEqualTo(22));
            assertThat(clip.sound()).isPresent();

            int bound = Integer.parseInt(last.replaceAll(".*within (\\d+) s.*", "$1"));
            serve.toHandle().destroy();
            assertThat(serve.waitFor(bound, TimeUnit.SECONDS)).as("stopped within %s s", bound).isTrue();
            assertThat(serve.exitValue()).isEqualTo(TERMINATED);
            assertThat(new String(serve.getErrorStream().readAllBytes(), StandardCharsets.UTF_8).lines()).contains("serve: stopping");
        } finally {
            serve.descendants().forEach(ProcessHandle::destroyForcibly);
            serve.destroyForcibly();
        }
    }

    private static String line(BufferedReader out, String start) throws IOException {
        for (String line = out.readLine(); line != null; line = out.readLine()) {
            if (line.startsWith(start)) {
                return line;
            }
        }
        throw new AssertionError("no line that starts with " + start);
    }

    private static int status(String url) throws IOException, InterruptedException {
        try (HttpClient client = HttpClient.newHttpClient()) {
            return client.send(HttpRequest.newBuilder(URI.create(url)).build(), HttpResponse.BodyHandlers.discarding()).statusCode();
        }
    }

    @Test
    void whatNoServerCouldBeToldIsRefused() throws IOException {
        Path tokens = folder.resolve("tokens");
        Files.writeString(tokens, "short\n");
        Files.setPosixFilePermissions(tokens, PosixFilePermissions.fromString("rw-------"));
        refused("--host: got '0.0.0.0', which others can reach, without a token; give --token-file, or listen on 127.0.0.1", "--host", "0.0.0.0");
        refused("--port: got 70000, expected 0 to 65535", "--port", "70000");
        refused("--token: got --token and --token-file, expected one of them", "--token", "0123456789abcdef", "--token-file", tokens.toString());
        refused("--token: line 1 has one of 5 characters, expected 16 to 512 printable ones without blanks", "--token-file", tokens.toString());
        refused("--token-file: 'nowhere' cannot be read, expected a text file with a token on each line", "--token-file", "nowhere");
        refused("--files: got 'nowhere', expected a folder", "--files", "nowhere");
        refused("--adapter: got 'style', expected NAME=FILE[:SCALE]", "--adapter", "style");
        refused("--adapter: got 'style=nowhere.safetensors', which is no file, expected NAME=FILE[:SCALE]", "--adapter", "style=nowhere.safetensors");
        refused("--max-queue: got 0, expected a number above 0", "--max-queue", "0");
        refused("--keep: got 0, expected a number above 0", "--keep", "0");
        refused("--no-worker: got it without --queue, expected both: a queue in a file has no other worker", "--no-worker");
    }

    private void refused(String message, String... options) {
        Captured captured = new Captured(false);
        String[] arguments = java.util.stream.Stream.concat(List.of("serve", "--data", folder.resolve("data").toString()).stream(), java.util.Arrays.stream(options))
                .toArray(String[]::new);
        assertThat(Kinema.run(captured.terminal(), arguments)).isEqualTo(2);
        assertThat(captured.err().strip()).isEqualTo("kinema serve: " + message);
    }
}
