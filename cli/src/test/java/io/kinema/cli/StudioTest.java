package io.kinema.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kinema.media.audio.AudioReader;
import io.kinema.media.image.PngWriter;
import io.kinema.media.image.RgbImage;
import io.kinema.media.video.VideoReader;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Studio in Debian's Chromium, in front of {@code kinema serve} with the bundled model: {@code src/test/node/studio.mjs} is the person.
 * {@code -Dstudio.shots=docs} keeps the pictures it takes.
 */
class StudioTest {
    private static final Path SCRIPTS = Shell.ROOT.resolve("cli/src/test/node");
    private static final Path INSTALLED = Shell.ROOT.resolve("cli/target/node");
    private static final long PATIENCE_MINUTES = 20;

    @TempDir
    private Path folder;

    @BeforeAll
    static void install() throws IOException {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/chromium")), "no Chromium here: Studio is not tried in a browser; apt-get install chromium");
        assumeTrue(Shell.bare(Shell.ROOT).bash("command -v node && command -v npm").exit() == 0, "no Node here: Studio is not tried in a browser; apt-get install nodejs npm");
        Files.createDirectories(INSTALLED);
        for (String name : List.of("package.json", "package-lock.json", ".npmrc", "studio.mjs")) {
            Files.copy(SCRIPTS.resolve(name), INSTALLED.resolve(name), StandardCopyOption.REPLACE_EXISTING);
        }
        if (!Files.exists(INSTALLED.resolve("node_modules/.installed"))) {
            // The file comes last: an installation that broke off is made again.
            Shell.Result npm = Shell.bare(INSTALLED).bash("timeout 300 npm ci --ignore-scripts && touch node_modules/.installed");
            assumeTrue(npm.exit() == 0, "npm cannot install here, or not within five minutes: Studio is not tried in a browser; " + npm.err());
        }
        Shell.Result first = Shell.bare(Shell.ROOT).kinema("--version");
        assertThat(first.exit()).as(first.err()).isZero();
    }

    @Test
    void aPersonMakesWatchesPlaysComparesAndDownloadsClips() throws IOException, InterruptedException {
        Path picture = Files.write(folder.resolve("first.png"), PngWriter.encode(gradient()));
        Process serve = Shell.bare(folder).start(Shell.ROOT.resolve("kinema").toString(), "serve", "--port", "0", "--data", "data");
        try (BufferedReader out = serve.inputReader(StandardCharsets.UTF_8)) {
            String address = out.lines().map(line -> line.replaceAll("^Kinema serves .* at (http://[^ ]+)\\. .*", "$1")).filter(line -> line.startsWith("http"))
                    .findFirst().orElseThrow();
            JsonNode saw = new ObjectMapper().readTree(use(address, picture));
            check(saw);
            decodesWhole(folder.resolve("text.mp4"));
            decodesWhole(folder.resolve("first-frame.mp4"));
            keepPictures();
        } finally {
            serve.descendants().forEach(ProcessHandle::destroyForcibly);
            serve.destroyForcibly();
        }
    }

    private String use(String address, Path picture) throws IOException, InterruptedException {
        Path answer = folder.resolve("saw.json");
        Path errors = folder.resolve("errors.txt");
        Process person = new ProcessBuilder("node", "studio.mjs", address, picture.toString(), folder.toString()).directory(INSTALLED.toFile())
                .redirectOutput(answer.toFile()).redirectError(errors.toFile()).start();
        boolean ended = person.waitFor(PATIENCE_MINUTES, TimeUnit.MINUTES);
        person.descendants().forEach(ProcessHandle::destroyForcibly);
        person.destroyForcibly();
        assertThat(ended).as("ended within %d minutes", PATIENCE_MINUTES).isTrue();
        assertThat(person.exitValue()).as(Files.readString(errors)).isZero();
        return Files.readString(answer);
    }

    private static void check(JsonNode saw) {
        assertThat(saw.path("errors")).as("script errors").isEmpty();
        assertThat(saw.path("model").asText()).isEqualTo("h3-nano");
        assertThat(saw.path("emptyPrompt").asText()).startsWith("Write what to see");
        assertThat(saw.path("plan").toString()).contains("256 × 256").contains("22 frames, 0.92 s").contains("\"4\"");
        assertThat(saw.path("afterPlan").asText()).as("Tab leads from Plan to Generate").isEqualTo("submit-button");
        assertThat(texts(saw.path("stages"))).contains("denoising");
        assertThat(texts(saw.path("steps"))).last().asString().startsWith("step ").endsWith("of 4");
        assertThat(saw.path("percent").asBoolean()).as("no invented percentage").isFalse();
        assertThat(saw.path("times").asText()).contains("Waited").contains("generation");
        JsonNode played = saw.path("played");
        assertThat(played.path("currentTime").asDouble()).isGreaterThan(0);
        assertThat(played.path("width").asInt()).isEqualTo(256);
        assertThat(played.path("audioBytes").asLong()).as("sound that was decoded").isPositive();
        assertThat(saw.path("record").asText()).startsWith("kinema.run/");
        assertThat(saw.path("tab").asText()).isEqualTo("tab-fl2va");
        assertThat(saw.path("secondTask").asText()).startsWith("fl2va");
        assertThat(saw.path("compared")).hasSize(2).allSatisfy(time -> assertThat(time.asDouble()).isGreaterThan(0));
        assertThat(saw.path("refused").path("text").asText()).contains("outputs: got 99");
        assertThat(saw.path("refused").path("field").asText()).isEqualTo("outputs");
        assertThat(saw.path("narrow").asInt()).as("no sideways scrolling at 320 pixels").isLessThanOrEqualTo(320);
        assertThat(saw.path("lang").asText()).isEqualTo("zh-CN");
        assertThat(saw.path("heading").asText()).isEqualTo("新建片段");
        assertThat(saw.path("background").asText()).isEqualTo("rgb(16, 18, 24)");
        assertThat(texts(saw.path("axeLight"))).as("accessibility, light").isEmpty();
        assertThat(texts(saw.path("axeDark"))).as("accessibility, dark").isEmpty();
        assertThat(saw.path("afterReload").path("jobs").asInt()).isEqualTo(1);
        assertThat(saw.path("afterReload").path("lang").asText()).isEqualTo("zh-CN");
    }

    private static List<String> texts(JsonNode list) {
        return StreamSupport.stream(list.spliterator(), false).map(JsonNode::asText).toList();
    }

    private static void decodesWhole(Path clip) {
        int frames = 0;
        try (VideoReader video = VideoReader.open(clip)) {
            while (video.next().isPresent()) {
                frames++;
            }
        }
        assertThat(frames).isEqualTo(22);
        assertThat(AudioReader.read(clip).length()).isPositive();
    }

    private void keepPictures() throws IOException {
        Optional<Path> target = Optional.ofNullable(System.getProperty("studio.shots")).map(Shell.ROOT::resolve);
        for (String name : List.of("studio-desktop.png", "studio-compare.png", "studio-mobile-dark.png")) {
            assertThat(folder.resolve(name)).isNotEmptyFile();
            if (target.isPresent()) {
                Files.copy(folder.resolve(name), target.get().resolve(name), StandardCopyOption.REPLACE_EXISTING);
            }
        }
    }

    private static RgbImage gradient() {
        byte[] rgb = new byte[256 * 256 * 3];
        for (int i = 0; i < rgb.length; i++) {
            rgb[i] = (byte) (i % 3 == 0 ? 220 : i / 3 % 256 / 2);
        }
        return new RgbImage(256, 256, rgb);
    }
}
