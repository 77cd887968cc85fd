package io.kinema.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Command lines that cannot be meant, over all commands: one line that says what was given and what is expected, exit code 2, nothing written. */
class WrongCommandLineTest {
    private static final Path ROOT = Path.of(System.getProperty("kinema.root")).toAbsolutePath().normalize();

    @TempDir
    private Path temp;
    /** A blank and letters of other scripts are in every path. */
    private Path given;

    @BeforeEach
    void prepare() throws IOException {
        given = Files.createDirectory(temp.resolve("ein Ordner é中文"));
        Files.writeString(given.resolve("file.txt"), "hi\n");
        Files.writeString(given.resolve("bad.json"), "{\"schema\": \"kinema.bench/1\"}");
        Files.createDirectory(given.resolve("full"));
        Files.writeString(given.resolve("full/a"), "x");
        Files.copy(ROOT.resolve("models/h3-nano/previews/sample1.mp4"), given.resolve("clip.mp4"));
    }

    /** {@code @} stands for the folder of the test, {@code %} for the bundled model. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "frobnicate                                                   | kinema: unknown command 'frobnicate'",
        "adapters foo                                                 | kinema adapters: unknown command 'foo'",
        "adapters inspect @full                                       | kinema adapters inspect: @full: got a folder, expected a plain file",
        "capabilities extra                                           | kinema capabilities: unexpected argument 'extra'; kinema capabilities takes options alone",
        "doctor --frob                                                | kinema doctor: unknown option '--frob'",
        "generate x --output                                          | kinema generate: missing --output FILE.mp4",
        "generate x y --output @o.mp4                                 | kinema generate: unexpected argument 'y'; put quotes around a text with blanks",
        "generate x --output @o.mp4 --strict=maybe                    | kinema generate: --strict: got 'maybe', expected no value; it is a switch",
        "generate x --output @file.txt/o.mp4                          | kinema generate: Cannot write '@file.txt/o.mp4': '@file.txt' is not a folder.",
        "generate x --output /proc/o.mp4                              | kinema generate: Cannot write '/proc/o.mp4': the folder '/proc' takes no such file; choose another.",
        "generate x --output @o.mp4 --frames-dir /proc/frames         | kinema generate: Cannot write '/proc/frames'",
        "generate x --output @o.mp4 --frames-dir @file.txt            | kinema generate: --frames-dir: got the file '@file.txt', expected a folder",
        "generate x --output @o.mp4 --wav @full                       | kinema generate: Cannot write '@full': it is a folder; give a file name.",
        "generate x --output @o.mp4 --image @full                     | kinema generate: The picture '@full' is a folder",
        "generate x --output @o.mp4 --adapter @full                   | kinema generate: adapter @full: got a folder, expected a .safetensors file",
        "generate x --output @o.mp4 --transformer @full               | kinema generate: @full: got 0 index files and 0 .safetensors files",
        "generate x --output @o.mp4 --model @file.txt                 | kinema generate: model @file.txt: got a file, expected a folder",
        "generate x --output @o.mp4 --device=                         | kinema generate: --device: got '', expected cpu or a GPU such as cuda:0",
        "generate x --output @o.mp4 --device=cuda:0 --max-device-memory=0 | kinema generate: --max-device-memory: got 0, expected a number of bytes above 0",
        "generate x --output @o.mp4 --device=cuda:0 --kernel-architecture=12 | kinema generate: --kernel-architecture: got 12, expected 70 or later",
        "generate x --output @o.mp4 --model % --random-weights released | kinema generate: --random-weights: got 'released' together with --model, expected one or the other",
        "inspect @clip.mp4 --scan-fp16                                | kinema inspect: --scan-fp16: got it with the clip '@clip.mp4', expected a model",
        "inspect @clip.mp4 --tensors                                  | kinema inspect: --tensors: got it with the clip '@clip.mp4', expected a model",
        "inspect % --threads 2                                        | kinema inspect: --threads: got 2, expected none without --scan-fp16",
        "inspect @full                                                | kinema inspect: @full: no model_index.json and no .safetensors file in it or below it",
        "compare @clip.mp4                                            | kinema compare: missing REFERENCE",
        "compare @clip.mp4 @full                                      | kinema compare: '@full' holds no clip, sound, frames or safetensors file",
        "compare @clip.mp4 @clip.mp4 --report @clip.mp4               | kinema compare: Cannot write '@clip.mp4': it is what is compared",
        "convert % --output @full                                     | kinema convert: @full: is there already",
        "convert % --output @nowhere/copy                             | kinema convert: @nowhere/copy: cannot be written, the folder @nowhere does not exist; create it first",
        "convert % --output @file.txt/copy                            | kinema convert: @file.txt/copy: cannot be written, @file.txt is no folder",
        "quantize % --output @nowhere/q.safetensors --quiet           | kinema quantize: @nowhere/q.safetensors: cannot be written, the folder @nowhere does not exist; create it first",
        "quantize %/vae --output @q.safetensors                       | kinema quantize: %/vae: holds a video vae, expected a transformer",
        "quantize % --output @q.safetensors --group-size 0            | kinema quantize: --group-size: got 0, expected a power of 4",
        "verify @full                                                 | kinema verify: case: got @full, expected a folder with a case.json",
        "bench --contract @nowhere                                    | kinema bench: --contract: got '@nowhere', which does not exist, expected a JSON file",
        "bench --contract @full                                       | kinema bench: --contract: got the folder '@full', expected a JSON file",
        "bench --contract @file.txt                                   | kinema bench: --contract: got '@file.txt', which is no JSON (line 1, column",
        "bench --contract @bad.json                                   | kinema bench: name: '@bad.json': got nothing, expected a text",
        "bench --contract ^ --output @full                            | kinema bench: --output: got '@full', which holds files, expected a new or an empty folder",
        "bench --contract ^ --output @file.txt                        | kinema bench: --output: got the file '@file.txt', expected a new or an empty folder",
        "bench --contract ^ --max-cv 1                                | kinema bench: --max-cv: got 1.0, expected above 0 and at most the published 0.05",
        "bench --contract ^ --max-host-bytes 1X                       | kinema bench: --max-host-bytes: got '1X', expected a number of bytes such as",
        "qualify --contract ^ --candidate speed=9                     | kinema qualify: --candidate: got 'speed', expected any of model, ",
        "qualify --list --contract ^                                  | kinema qualify: --list: got it with what is to be measured, expected it alone",
        "step --device cpu --transformer @nowhere                     | kinema step: @nowhere: no such folder; check the path",
        "step --device cpu --transformer @file.txt                    | kinema step: @file.txt: is no folder, expected that of a network",
        "step --device cpu --transformer %                            | kinema step: %: is a whole model, expected the folder of one network",
        "decode --device cpu --model % --latent-frames 1              | kinema decode: --latent-frames: got 1, expected 3 to",
        "prepared --verify --clear                                    | kinema prepared: --verify: got it together with --clear, expected one of them",
        "prepared --folder @file.txt                                  | kinema prepared: --folder: got the file '@file.txt', expected a folder",
        "serve --data @file.txt                                       | kinema serve: --data: got '@file.txt', which cannot be made, expected a folder that can be written",
        "serve --data @data --storage @file.txt                       | kinema serve: --storage: got '@file.txt', which cannot be made",
        "serve --data @data --save-every 0                            | kinema serve: --save-every: got 0, expected 1 or more steps",
        "serve --data @data --drain -1                                | kinema serve: --drain: got -1, expected 0 s or more",
        "serve --data @data --allow-host=                             | kinema serve: --allow-host: got '', expected the name of a host",
        "serve --data @data --reference-host=                         | kinema serve: --reference-host: got '', expected the name of a host",
        "worker --queue=sqlite:x                                      | kinema worker: --queue: got a URL that begins otherwise, expected jdbc:postgresql://",
        "worker --queue=jdbc:postgresql://127.0.0.1:1/x --drain=-1    | kinema worker: --drain: got -1, expected 0 s or more",
    })
    void isOneLine(String line, String says) throws IOException {
        List<Path> before = listed();
        List<String> arguments = new ArrayList<>();
        for (String word : line.split(" +")) {
            arguments.add(real(word));
        }
        Captured terminal = new Captured(false);
        assertThat(terminal.kinema(arguments.toArray(String[]::new))).as(terminal.err()).isEqualTo(ExitCode.BAD_INPUT);
        assertThat(terminal.errors()).singleElement().asString().startsWith(real(says));
        assertThat(terminal.out()).isEmpty();
        assertThat(listed().stream().filter(path -> !path.endsWith("data"))).containsExactlyElementsOf(before);
    }

    /** What is outside of the command line is exit code 1, still in one line. */
    @Test
    void aDatabaseThatDoesNotAnswer() {
        Captured terminal = new Captured(false);
        assertThat(terminal.kinema("worker", "--queue", "jdbc:postgresql://127.0.0.1:1/x", "--data", given.resolve("data").toString())).isEqualTo(ExitCode.FAILED);
        assertThat(terminal.errors()).singleElement().asString().startsWith("kinema worker: job store: ").doesNotContain("Exception", "--debug");
    }

    private String real(String text) {
        return text.replace("@", given + "/").replace("%", ROOT.resolve("models/h3-nano").toString()).replace("^", ROOT.resolve("contracts/h3-nano.json").toString());
    }

    private List<Path> listed() throws IOException {
        try (Stream<Path> files = Files.walk(temp)) {
            return files.sorted().toList();
        }
    }
}
