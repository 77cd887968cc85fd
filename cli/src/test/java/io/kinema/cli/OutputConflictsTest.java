package io.kinema.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** An output never replaces another output of the same request, nor anything that the request reads. */
class OutputConflictsTest {
    private static final String MODEL = Shell.ROOT.resolve("models/h3-nano").toString();

    @TempDir
    private Path folder;

    @BeforeEach
    void inputs() throws IOException {
        Files.writeString(folder.resolve("in.json"), "in");
        Files.createDirectory(folder.resolve("frames"));
        Files.writeString(folder.resolve("frames/frame-00003.png"), "in");
        Files.createSymbolicLink(folder.resolve("link.wav"), folder.resolve("in.json"));
        Files.createSymbolicLink(folder.resolve("elsewhere"), folder);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "--output @/in.mp4 --image @/in.json                              | --output: got | --image",
        "--output @/in.mp4 --last-image @/in.json                         | --output: got | --last-image",
        "--output @/in.mp4 --reference image:@/in.json                    | --output: got | --reference",
        "--output @/in.mp4 --adapter @/in.json                            | --output: got | --adapter",
        "--output @/in.mp4 --transformer @/in.json                        | --output: got | --transformer",
        "--output @/a.mp4 --wav @/link.wav --image @/in.json              | --wav: got | --image",
        "--output @/a.mp4 --wav @/elsewhere/a.mp4                         | --wav: got | --output",
        "--output @/a.mp4 --wav @/a.json                                  | --wav: got | --output",
        "--output @/a.mp4 --wav @/frames/../b --save-latents @/b          | --save-latents: got | --wav",
        "--output @/a.mp4 --wav @/s --frames-dir @/s                      | --frames-dir: got | --wav",
        "--output @/a.mp4 --frames-dir @/frames --image @/frames/frame-00003.png | --frames-dir: got | --image",
        "--output @/a.mp4 --frames-dir @/frames --save-latents @/elsewhere/frames/frame-00001.png | --save-latents: got | --frames-dir",
        "--output @/a.mp4 --outputs 2 --wav @/a.json                      | --wav: got | --output",
        "--output @/a.mp4 --outputs 2 --wav @/in --image @/in-1           | --wav: got | --image",
    })
    void isRefusedBeforeAnyWork(String options, String field, String because) throws IOException {
        List<String> before = everything();
        for (String command : List.of("generate", "plan")) {
            List<String> arguments = new ArrayList<>(List.of(command, "A red circle", "--model", MODEL));
            Arrays.stream(options.strip().replace("@", folder.toString()).split(" +")).forEach(arguments::add);
            Captured terminal = new Captured(false);
            assertThat(terminal.kinema(arguments.toArray(String[]::new))).as(terminal.err()).isEqualTo(ExitCode.BAD_INPUT);
            assertThat(terminal.errors()).singleElement().asString().startsWith("kinema " + command + ": " + field.strip()).contains(because.strip());
        }
        assertThat(everything()).isEqualTo(before);
    }

    @Test
    void aFileOfTheModelIsNotReplaced() throws IOException {
        Path model = Files.createDirectory(folder.resolve("model"));
        Files.writeString(model.resolve("config.json"), "{}");
        Captured terminal = new Captured(false);
        assertThat(terminal.kinema("generate", "A red circle", "--model", model.toString(), "--output", model.resolve("config.mp4").toString())).isEqualTo(2);
        assertThat(terminal.errors()).singleElement().asString().contains("config.json", "a file of the model");
        assertThat(model.resolve("config.json")).hasContent("{}");
    }

    @Test
    void filesBesideOneAnotherAreNoConflict() {
        Captured terminal = new Captured(false);
        assertThat(terminal.kinema("plan", "A red circle", "--model", MODEL, "--output", folder.resolve("a.mp4").toString(), "--wav", folder.resolve("a.wav").toString(),
                "--frames-dir", folder.resolve("frames").toString(), "--save-latents", folder.resolve("frames/a").toString(), "--outputs", "2")).as(terminal.err()).isZero();
    }

    private List<String> everything() throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            return files.map(Path::toString).sorted().toList();
        }
    }
}
