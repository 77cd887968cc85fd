package io.kinema.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kinema.media.audio.Sound;
import io.kinema.media.audio.WavWriter;
import io.kinema.media.image.PngWriter;
import io.kinema.media.image.RgbImage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CompareTest {
    @TempDir
    private Path folder;
    private final Captured captured = new Captured(false);

    @BeforeEach
    void make() {
        wav("tone", 1);
        wav("louder", 1.03);
        frames("frames", 0);
        frames("other", 25);
    }

    @Test
    void equalThingsPassWithATableThatCanBePasted() {
        assertThat(captured.kinema("compare", path("tone.wav"), path("tone.wav"), "--bitwise")).as(captured.err()).isZero();
        assertThat(captured.out().lines().filter(line -> line.startsWith("|"))).hasSize(5).allMatch(line -> line.matches("\\|( [^|]+ \\|){4}"));
        assertThat(captured.out().lines().map(line -> line.replaceAll(" +", " "))).contains("| gate | got | limit | verdict |", "| bitwise | 0 | <= 0 | PASS |");
        assertThat(captured.out().lines()).last().asString().startsWith("PASS: 3 of 3 gates");
        assertThat(captured.err()).isEmpty();
    }

    @Test
    void aFailedGateIsExit1() {
        assertThat(captured.kinema("compare", path("louder.wav"), path("tone.wav"))).isEqualTo(ExitCode.FAILED);
        assertThat(captured.out()).contains("| rms_ratio       | 1.03", "FAIL: 1 of 2 gates");
        assertThat(captured.err()).isEmpty();
    }

    @Test
    void jsonIsOneDocument() throws IOException {
        assertThat(captured.kinema("compare", path("other"), path("frames"), "--json")).isEqualTo(ExitCode.FAILED);
        JsonNode json = new ObjectMapper().readTree(captured.out());
        assertThat(json.at("/verdict/passed").booleanValue()).isFalse();
        assertThat(json.at("/frames/width").intValue()).isEqualTo(32);
    }

    @Test
    void aLimitCanBeTightenedAndRelaxedOnlyInSoManyWords() {
        assertThat(captured.kinema("compare", path("louder.wav"), path("tone.wav"), "--gate", "rms_ratio=0.05")).isEqualTo(ExitCode.BAD_INPUT);
        assertThat(captured.errors()).containsExactly(
                "kinema compare: --gate rms_ratio: got 0.05, looser than the published 0.01; a gate is relaxed only explicitly, by --relax");
        assertThat(captured.kinema("compare", path("louder.wav"), path("tone.wav"), "--gate", "rms_ratio=0.05", "--relax")).isZero();
        assertThat(captured.out()).contains("0.95 to 1.05 (relaxed from 0.01)").contains("RELAXED: a limit is looser than the published one");
        assertThat(captured.kinema("compare", path("tone.wav"), path("tone.wav"), "--gate", "spectral_cosine=1.5")).isEqualTo(ExitCode.FAILED);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {"nonsense=1 | got 'nonsense', expected one of video_latents", "psnr=high | got 'psnr=high', expected NAME=NUMBER",
            "psnr | got 'psnr', expected NAME=NUMBER", "psnr=NaN | got a limit of nan", "bitwise=3 | got 'bitwise'", "video_latents=-1 | got a limit of -1"})
    void aWrongLimitIsOneLineAndExit2(String limit, String message) {
        assertThat(captured.kinema("compare", path("tone.wav"), path("tone.wav"), "--gate", limit)).isEqualTo(ExitCode.BAD_INPUT);
        assertThat(captured.errors()).singleElement().asString().contains(message);
        assertThat(captured.out()).isEmpty();
    }

    @Test
    void whatCannotBeComparedIsOneLineAndExit2() throws IOException {
        Files.writeString(folder.resolve("text.mp4"), "no video");
        List<List<String>> pairs = List.of(List.of("none.mp4", "tone.wav"), List.of("text.mp4", "tone.wav"), List.of("frames", "tone.wav"), List.of("tone.wav", "frames"));
        for (List<String> pair : pairs) {
            Captured once = new Captured(false);
            assertThat(once.kinema("compare", path(pair.get(0)), path(pair.get(1)))).as("%s", pair).isEqualTo(ExitCode.BAD_INPUT);
            assertThat(once.errors()).as("%s", pair).hasSize(1);
            assertThat(once.out()).isEmpty();
        }
        assertThat(captured.kinema("compare", path("tone.wav"))).isEqualTo(ExitCode.BAD_INPUT);
    }

    @Test
    void strictFailsOnWarnings() {
        float[] clipped = new float[16_000];
        for (int i = 0; i < clipped.length; i++) {
            clipped[i] = (float) Math.clamp(0.5 * Math.sin(0.05 * i) + (i % 400 == 0 ? 0.9 : 0), -1, 1);
        }
        WavWriter.write(new Sound(32_000, new float[][] {clipped}), folder.resolve("clicks.wav"));
        String[] loose = {"compare", path("clicks.wav"), path("tone.wav"), "--relax", "--gate", "spectral_cosine=0", "--gate", "rms_ratio=0.9"};
        assertThat(captured.kinema(loose)).isZero();
        assertThat(captured.out()).contains("WARNING: ");
        String[] strict = Arrays.copyOf(loose, loose.length + 1);
        strict[loose.length] = "--strict";
        assertThat(captured.kinema(strict)).isEqualTo(ExitCode.FAILED);
        assertThat(captured.out()).endsWith("FAIL: --strict allows no warning" + System.lineSeparator());
    }

    @Test
    void theReportIsWrittenAndNeverOverWhatIsCompared() throws IOException {
        assertThat(captured.kinema("compare", path("other"), path("frames"), "--report", path("report.html"))).isEqualTo(ExitCode.FAILED);
        assertThat(Files.readString(folder.resolve("report.html"))).startsWith("<!doctype html>").contains("difference times");
        byte[] before = Files.readAllBytes(folder.resolve("tone.wav"));
        Files.createSymbolicLink(folder.resolve("link.html"), folder.resolve("tone.wav"));
        assertThat(captured.kinema("compare", path("tone.wav"), path("louder.wav"), "--html", path("link.html"))).isEqualTo(ExitCode.BAD_INPUT);
        assertThat(captured.kinema("compare", path("tone.wav"), path("louder.wav"), "--html", path("none/report.html"))).isEqualTo(ExitCode.BAD_INPUT);
        assertThat(folder.resolve("tone.wav")).hasBinaryContent(before);
    }

    /** Field report 24: folders and files with spaces, quotes, non-Latin letters broke the child process. */
    @Test
    void fieldReport24NamesWithBlanksQuotesAndOtherScripts() throws IOException {
        Path odd = Files.createDirectory(folder.resolve("a 'b' \"c\" 中文"));
        Files.copy(folder.resolve("tone.wav"), odd.resolve("t ö ne.wav"));
        assertThat(captured.kinema("compare", odd.resolve("t ö ne.wav").toString(), path("tone.wav"), "--report", odd.resolve("r é.html").toString())).as(captured.err()).isZero();
        assertThat(odd.resolve("r é.html")).exists();
    }

    private String path(String name) {
        return folder.resolve(name).toString();
    }

    private void wav(String name, double gain) {
        float[] x = new float[16_000];
        for (int i = 0; i < x.length; i++) {
            x[i] = (float) (gain * 0.3 * Math.sin(0.05 * i));
        }
        WavWriter.write(new Sound(32_000, new float[][] {x}), folder.resolve(name + ".wav"));
    }

    private void frames(String name, int offset) {
        for (int t = 0; t < 4; t++) {
            RgbImage image = RgbImage.black(32, 32);
            for (int i = 0; i < image.rgb().length; i++) {
                image.rgb()[i] = (byte) (i % 96 + 10 * t + (i % 7 == 0 ? offset : 0));
            }
            PngWriter.write(image, PngWriter.frameFile(folder.resolve(name), t));
        }
    }
}
