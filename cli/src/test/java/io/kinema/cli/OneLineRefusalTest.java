package io.kinema.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Whatever is wrong with the input, {@code generate} prints one line and nothing else: no progress before it, no file after it. */
class OneLineRefusalTest {
    private static final Path MODEL = Shell.ROOT.resolve("models/h3-nano");

    @TempDir
    private Path given;
    @TempDir
    private Path folder;

    @ParameterizedTest
    @ValueSource(strings = {"--steps=0", "--frames=0", "--outputs=11", "--seed=-1", "--image=nowhere.png", "--last-image=nowhere.png", "--adapter=nowhere.safetensors",
        "--reference=image:nowhere.png", "--reference=video:nowhere.mp4", "--reference=latents:nowhere.safetensors", "--transformer=nowhere", "--device=tpu:0"})
    void aRequestThatBreaksARule(String option) {
        refused(MODEL, "A red circle", option);
    }

    @Test
    void anEmptyPrompt() {
        refused(MODEL, " ");
    }

    @Test
    void aMissingModel() {
        refused(given.resolve("nowhere"), "A red circle");
    }

    @ParameterizedTest
    @ValueSource(strings = {"transformer", "vae", "audio_vae", "text_encoder"})
    void aWeightFileThatIsCutOff(String component) throws IOException {
        Path model = copyOfTheModel();
        Path weights = weights(model.resolve(component));
        try (FileChannel channel = FileChannel.open(weights, StandardOpenOption.WRITE)) {
            channel.truncate(channel.size() / 2);
        }
        assertThat(refused(model, "A red circle")).contains(weights.getFileName().toString());
    }

    @ParameterizedTest
    @ValueSource(strings = {"--image=", "--last-image=", "--reference=image:", "--reference=video:", "--reference=audio:", "--reference=latents:", "--adapter=",
        "--transformer="})
    void aPipeOrADeviceWhereAFileShouldBe(String option) throws Exception {
        List<String> pictured = option.endsWith("audio:") ? List.of("--reference=image:" + picture()) : List.of();
        for (Path file : List.of(pipe(given.resolve("pipe")), Path.of("/dev/zero"))) {
            List<String> options = new ArrayList<>(pictured);
            options.add(option + file);
            assertThat(refused(MODEL, "A red circle", options.toArray(String[]::new))).contains(file.toString());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"transformer/config.json", "text_encoder/config.json", "vae/diffusion_pytorch_model.safetensors"})
    void aPipeInTheModelFolder(String name) throws Exception {
        Path model = copyOfTheModel();
        Files.delete(model.resolve(name));
        pipe(model.resolve(name));
        refused(model, "A red circle");
    }

    private String refused(Path model, String prompt, String... options) {
        List<String> arguments = new ArrayList<>(List.of("generate", prompt, "--model", model.toString(), "--output", folder.resolve("clip.mp4").toString()));
        arguments.addAll(List.of(options));
        Captured terminal = new Captured(false);
        int exit = Assertions.assertTimeoutPreemptively(Duration.ofMinutes(10), () -> terminal.kinema(arguments.toArray(String[]::new)));
        assertThat(exit).as(terminal.err()).isEqualTo(ExitCode.BAD_INPUT);
        assertThat(terminal.out()).isEmpty();
        assertThat(terminal.errors()).singleElement().asString().startsWith("kinema generate: ");
        assertThat(folder).isEmptyDirectory();
        return terminal.err();
    }

    private Path picture() throws IOException {
        Path file = given.resolve("picture.png");
        assertThat(ImageIO.write(new BufferedImage(64, 64, BufferedImage.TYPE_INT_RGB), "png", file.toFile())).isTrue();
        return file;
    }

    private static Path weights(Path component) throws IOException {
        try (Stream<Path> files = Files.list(component)) {
            return files.filter(file -> file.toString().endsWith(".safetensors")).findFirst().orElseThrow();
        }
    }

    private static Path pipe(Path at) throws IOException, InterruptedException {
        assertThat(new ProcessBuilder("mkfifo", at.toString()).inheritIO().start().waitFor()).isZero();
        return at;
    }

    private Path copyOfTheModel() throws IOException {
        Path copy = given.resolve("model");
        try (Stream<Path> files = Files.walk(MODEL)) {
            for (Path file : files.filter(file -> !file.startsWith(MODEL.resolve("previews"))).toList()) {
                Files.copy(file, copy.resolve(MODEL.relativize(file).toString()));
            }
        }
        return copy;
    }
}
