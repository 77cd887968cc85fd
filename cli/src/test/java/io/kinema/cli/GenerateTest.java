package io.kinema.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code ./kinema generate} as a user types it, with the smallest clip the bundled model makes. */
class GenerateTest {
    private static final ObjectMapper JSON = new ObjectMapper();

    @TempDir
    private Path folder;

    @Test
    void writesAClipThatPlaysEverywhere() throws IOException {
        Shell.Result result = generate("--output", "clip.mp4");
        assertThat(result.exit()).as(result.err()).isZero();
        assertThat(result.out()).isEmpty();
        assertThat(result.err()).contains("loading the model", "denoising, step 2/2", "wrote 22 frames of 256x256");
        assertThat(folder.toFile().list()).containsExactlyInAnyOrder("clip.mp4", "clip.json");
        assertThat(boxes(folder.resolve("clip.mp4"))).containsSubsequence("ftyp", "moov", "mdat");
        JsonNode record = JSON.readTree(folder.resolve("clip.json").toFile());
        assertThat(record.path("output").path("frames").asInt()).isEqualTo(22);
        assertThat(record.path("steps")).hasSize(2);
    }

    @Test
    void ffprobeSeesH264AndStereoAac() throws IOException {
        assertThat(generate("--output", "clip.mp4", "--quiet").exit()).isZero();
        Shell.Result probe = Shell.bare(folder).bash("command -v ffprobe > /dev/null || exit 77; "
                + "ffprobe -v error -count_frames -show_streams -show_format -of json clip.mp4");
        assumeTrue(probe.exit() != 77, "ffprobe is not installed");
        assertThat(probe.err()).isEmpty();
        JsonNode streams = JSON.readTree(probe.out()).path("streams");
        JsonNode video = streams.get(0);
        JsonNode audio = streams.get(1);
        assertThat(streams).hasSize(2);
        assertThat(facts(video, "codec_name", "pix_fmt", "width", "height", "r_frame_rate", "avg_frame_rate", "nb_read_frames"))
                .isEqualTo("h264 yuv420p 256 256 24/1 24/1 22");
        assertThat(facts(audio, "codec_name", "sample_rate", "channels", "channel_layout")).isEqualTo("aac 32000 2 stereo");
        assertThat(video.path("duration").asDouble()).isCloseTo(22 / 24.0, Offset.offset(0.001));
        assertThat(audio.path("duration").asDouble()).isCloseTo(22 / 24.0, Offset.offset(0.05));
    }

    /** Field report 24. */
    @Test
    void report24NamesMayHaveBlanksQuotesAndOtherScripts() {
        Shell.Result result = Shell.bare(folder).bash("name=$'it\\'s \"\\xe5\\xb8\\xbd\\xe5\\xad\\x90\"'; mkdir \"$name\" && cd \"$name\" && "
                + "\"$1\" generate 'A red circle' --width 256 --height 256 --frames 22 --steps 1 --quiet --output \"$name.mp4\" && ls", Shell.ROOT + "/kinema");
        assertThat(result.exit()).as(result.err()).isZero();
        assertThat(result.out()).isEqualTo("it's \"帽子\".json\nit's \"帽子\".mp4\n");
    }

    @Test
    void sameSeedSameBytes() throws IOException {
        generate("--output", "a.mp4", "--quiet", "--seed", "5");
        generate("--output", "b.mp4", "--quiet", "--seed", "5", "--threads", "1");
        generate("--output", "c.mp4", "--quiet", "--seed", "6");
        assertThat(Files.mismatch(folder.resolve("a.mp4"), folder.resolve("b.mp4"))).isEqualTo(-1);
        assertThat(Files.mismatch(folder.resolve("a.mp4"), folder.resolve("c.mp4"))).isNotEqualTo(-1);
    }

    @Test
    void quietPrintsNothingAndJsonOneDocument() throws IOException {
        Shell.Result result = generate("--output", "clip.mp4", "--quiet", "--json");
        assertThat(result.err()).isEmpty();
        JsonNode document = JSON.readTree(result.out());
        assertThat(document.path("file").asText()).isEqualTo("clip.mp4");
        assertThat(document.path("record")).isEqualTo(JSON.readTree(folder.resolve("clip.json").toFile()));
    }

    @Test
    void snapsFramesAndSaysSo() {
        Shell.Result result = kinema("--output", "clip.mp4", "--frames", "20", "--steps", "1", "--width", "256", "--height", "256");
        assertThat(result.exit()).as(result.err()).isZero();
        assertThat(result.err()).contains("20 frames become 22");
    }

    @Test
    void replacesAnOlderClip() throws IOException {
        Files.writeString(folder.resolve("clip.mp4"), "old");
        assertThat(generate("--output", "clip.mp4", "--quiet").exit()).isZero();
        assertThat(folder.resolve("clip.mp4").toFile().length()).isGreaterThan(1000);
    }

    @Test
    void interruptingLeavesNothingAndExitsWith130() throws IOException, InterruptedException {
        // A clip of many steps, interrupted by the signal of Ctrl-C once it has begun.
        // Whoever started these tests may be deaf to that signal, and so would be what they start.
        Process process = Shell.bare(folder).start("env", "--default-signal=INT", Shell.ROOT + "/kinema", "generate", "A red circle", "--output", "clip.mp4",
                "--steps", "500", "--width", "256", "--height", "256");
        StringBuilder err = new StringBuilder();
        try (var lines = process.errorReader(StandardCharsets.UTF_8)) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                err.append(line).append('\n');
                if (line.contains("step 1/500")) {
                    Shell.bare(folder).bash("kill -INT \"$1\"", Long.toString(process.pid()));
                }
            }
        }
        assertThat(process.waitFor()).isEqualTo(130);
        assertThat(err.toString()).contains("cancelled while denoising; nothing was written");
        assertThat(folder).isEmptyDirectory();
    }

    private Shell.Result generate(String... options) {
        List<String> arguments = new ArrayList<>(List.of(options));
        arguments.addAll(List.of("--width", "256", "--height", "256", "--frames", "22", "--steps", "2"));
        return kinema(arguments.toArray(String[]::new));
    }

    private Shell.Result kinema(String... options) {
        List<String> arguments = new ArrayList<>(List.of("generate", "A red circle bounces across a blue background"));
        arguments.addAll(List.of(options));
        return Shell.bare(folder).kinema(arguments.toArray(String[]::new));
    }

    private static String facts(JsonNode stream, String... names) {
        return String.join(" ", List.of(names).stream().map(name -> stream.path(name).asText()).toList());
    }

    /** The types of an MP4 file's outermost boxes, in order. */
    private static List<String> boxes(Path file) throws IOException {
        ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(file));
        List<String> types = new ArrayList<>();
        for (int at = 0; at < bytes.limit(); at += bytes.getInt(at)) {
            types.add(new String(bytes.array(), at + 4, 4, StandardCharsets.US_ASCII));
        }
        return types;
    }
}
