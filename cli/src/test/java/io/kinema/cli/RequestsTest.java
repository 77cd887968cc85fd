package io.kinema.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Plans, references, several outputs and provenance, with the smallest clip of the bundled model. */
class RequestsTest {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String MODEL = Shell.ROOT.resolve("models/h3-nano").toString();

    @TempDir
    private static Path made;
    @TempDir
    private Path folder;

    /** Two clips and all their files, made once. */
    @BeforeAll
    static void makeTwo() {
        System.setProperty("kinema.rates", made.resolve("cache/rates.json").toString());
        Captured terminal = new Captured(false);
        assertThat(terminal.kinema(command("generate", "--output", made.resolve("clip.mp4").toString(), "--outputs", "2", "--seed", "5", "--json",
                "--wav", made.resolve("sound.wav").toString(), "--frames-dir", made.resolve("frames").toString(),
                "--save-latents", made.resolve("latents.safetensors").toString()))).as(terminal.err()).isZero();
    }

    @AfterAll
    static void forgetRates() {
        System.clearProperty("kinema.rates");
    }

    private static String[] command(String name, String... options) {
        List<String> arguments = new ArrayList<>(List.of(name, "A red circle", "--model", MODEL, "--frames", "22", "--steps", "1"));
        arguments.addAll(List.of(options));
        return arguments.toArray(String[]::new);
    }

    private static JsonNode json(Path file) throws IOException {
        return JSON.readTree(file.toFile());
    }

    private JsonNode plan(String... options) throws IOException {
        List<String> all = new ArrayList<>(List.of(options));
        all.add("--json");
        Captured terminal = new Captured(false);
        assertThat(terminal.kinema(command("plan", all.toArray(String[]::new)))).as(terminal.err()).isZero();
        return JSON.readTree(terminal.out());
    }

    @Test
    void outputsAreNumberedAndCountTheSeedUp() throws IOException {
        assertThat(made.toFile().list()).containsExactlyInAnyOrder("cache", "clip-0.mp4", "clip-0.json", "clip-1.mp4", "clip-1.json", "sound-0.wav",
                "sound-1.wav", "frames-0", "frames-1", "latents-0.safetensors", "latents-1.safetensors");
        assertThat(made.resolve("frames-1").toFile().list()).hasSize(22);
        assertThat(json(made.resolve("clip-1.json")).path("output").path("seed").asLong()).isEqualTo(6);
    }

    @Test
    void anOutputIsTheClipOfItsSeed() throws IOException {
        Path alone = folder.resolve("alone.mp4");
        assertThat(new Captured(false).kinema(command("generate", "--output", alone.toString(), "--seed", "6", "--quiet"))).isZero();
        assertThat(Files.mismatch(alone, made.resolve("clip-1.mp4"))).isEqualTo(-1);
    }

    @Test
    void aFailureOfTheSecondLeavesTheFirstWholeAndNothingOfTheSecond() throws IOException {
        // A folder that is in the way of the second clip's frames shows itself only when they are put in place.
        Captured terminal = new Captured(false);
        Files.createDirectories(folder.resolve("busy/frames-1/frame-00007.png/x"));
        assertThat(terminal.kinema(command("generate", "--output", folder.resolve("busy/clip.mp4").toString(), "--outputs", "2", "--frames-dir",
                folder.resolve("busy/frames").toString()))).isNotZero();
        assertThat(folder.resolve("busy").toFile().list()).containsExactlyInAnyOrder("clip-0.mp4", "clip-0.json", "frames-0", "frames-1");
        assertThat(folder.resolve("busy/frames-1").toFile().list()).containsExactly("frame-00007.png");
        assertThat(terminal.err()).contains("clip-0.mp4", "frame-00007.png': it is a folder");
    }

    @Test
    void framesOfAnEarlierLongerClipGoAndOtherFilesStay() throws IOException {
        Path frames = Files.createDirectory(folder.resolve("frames"));
        for (String name : List.of("frame-00003.png", "frame-00038.png", "notes.txt")) {
            Files.writeString(frames.resolve(name), "old");
        }
        Captured terminal = new Captured(false);
        assertThat(terminal.kinema(command("generate", "--seed", "5", "--output", folder.resolve("clip.mp4").toString(), "--frames-dir", frames.toString()))).isZero();
        assertThat(frames.toFile().list()).hasSize(23).contains("notes.txt", "frame-00021.png").doesNotContain("frame-00038.png");
        assertThat(frames.resolve("frame-00003.png").toFile()).hasSameBinaryContentAs(made.resolve("frames-0/frame-00003.png").toFile());
        assertThat(terminal.errors().getLast()).contains("clip.mp4", "its run record to " + folder.resolve("clip.json"));
    }

    @Test
    void aSeedBeyond32BitsSaysWhichSeedItCountsAs() {
        Captured terminal = new Captured(false);
        assertThat(terminal.kinema(command("plan", "--seed", "4294967301"))).isZero();
        assertThat(terminal.out()).contains("seed 4294967301 counts as 5", "low 32 bits");
    }

    @Test
    void inspectPrintsHowAClipWasMade() throws IOException {
        Captured text = new Captured(false);
        assertThat(text.kinema("inspect", made.resolve("clip-1.mp4").toString())).isZero();
        assertThat(text.out()).contains("h264 yuv420p, 256x256, 24 frames a second, 22 frames", "aac, 32000 Hz, 2 channels", "seed  6", "A red circle");
        Captured document = new Captured(false);
        assertThat(document.kinema("inspect", "--json", made.resolve("clip-1.mp4").toString())).isZero();
        JsonNode provenance = JSON.readTree(document.out()).path("provenance");
        JsonNode record = json(made.resolve("clip-1.json"));
        assertThat(provenance.path("model_sha256")).isEqualTo(record.path("model").path("sha256"));
        assertThat(provenance.path("transformer_sha256")).isEqualTo(record.path("model").path("transformer_sha256"));
        assertThat(provenance.path("version")).isEqualTo(record.path("engine").path("version"));
        assertThat(provenance.path("request").path("prompt").asText()).isEqualTo("A red circle");
        assertThat(provenance.path("request").path("steps")).isEqualTo(record.path("request").path("steps"));
        assertThat(provenance.path("request").path("seed").asLong()).isEqualTo(6);
        assertThat(provenance.toString()).as("nothing of the day or the machine").doesNotContain("created", "threads", "processor");
    }

    @Test
    void provenanceCanBeLeftOut() throws IOException {
        Path clip = folder.resolve("clip.mp4");
        assertThat(new Captured(false).kinema(command("generate", "--output", clip.toString(), "--seed", "6", "--quiet", "--no-provenance"))).isZero();
        assertThat(new String(Files.readAllBytes(clip), java.nio.charset.StandardCharsets.ISO_8859_1)).doesNotContain("kinema", "red circle");
        Captured terminal = new Captured(false);
        assertThat(terminal.kinema("inspect", clip.toString())).isZero();
        assertThat(terminal.out()).contains("h264", "no provenance");
    }

    @Test
    void aPlanSaysWhatTheRecordSays() throws IOException {
        JsonNode plan = plan("--seed", "5", "--outputs", "2", "--output", folder.resolve("x.mp4").toString());
        JsonNode record = json(made.resolve("clip-0.json"));
        assertThat(plan.path("request")).isEqualTo(record.path("request"));
        assertThat(plan.path("rows")).isEqualTo(record.path("rows"));
        assertThat(plan.path("execution")).isEqualTo(record.path("execution"));
        assertThat(plan.path("evaluations").asInt()).isEqualTo(2);
        // The first clip's record has what both share.
        assertThat(plan.path("work").path("useful_flops").asLong()).isEqualTo(record.path("work").path("useful_flops").asLong()
                + json(made.resolve("clip-1.json")).path("work").path("useful_flops").asLong());
        assertThat(plan.path("time").path("certainty").asText()).startsWith("measured");
        assertThat(folder).as("a plan writes nothing").isEmptyDirectory();
    }

    @Test
    void referencesAreNumberedInTheirOrder() throws IOException {
        JsonNode plan = plan("--reference", "video+sound:" + made.resolve("clip-0.mp4"), "--reference", "image:" + made.resolve("frames-0/frame-00003.png"),
                "--reference", "audio:" + made.resolve("sound-0.wav"), "--reference", "latents:" + made.resolve("latents-0.safetensors"));
        assertThat(plan.path("request").path("task").asText()).isEqualTo("ref2va");
        assertThat(plan.path("conditions").findValuesAsText("role")).containsExactly("video+sound", "image", "audio", "latents");
        assertThat(plan.path("conditions").toString()).contains("[\"Audio 1\",\"Video 1\"]", "[\"Picture 1\"]", "[\"Audio 2\"]", "[\"Video 2\"]");
    }

    @Test
    void dryRunIsAPlanAndNeedsNoOutput() {
        Captured dry = new Captured(false);
        Captured plan = new Captured(false);
        assertThat(dry.kinema(command("generate", "--dry-run"))).isZero();
        assertThat(plan.kinema(command("plan"))).isZero();
        assertThat(dry.out()).isEqualTo(plan.out()).contains("t2va with h3-nano", "22 frames", "seed 0 by default");
    }

    @ParameterizedTest
    @ValueSource(strings = {"--width=300 --height=256", "--frames=0", "--task=ref2va", "--reference=film:x", "--reference=audio:x.wav", "--reference=video:nowhere.mp4",
        "--image=nowhere.png", "--device=tpu:0", "--threads=0", "--model=nowhere", "--outputs=11", "--outputs=0", "--steps=0", "--seed=-1",
        "--precision=fp64", "--output=clip.avi", "--transformer=nowhere", "--reference=latents:nowhere.safetensors"})
    void aPlanRefusesWhatGenerateRefusesInTheSameWords(String wrong) {
        List<String> options = new ArrayList<>(List.of(wrong.split(" ")));
        if (!wrong.startsWith("--output=")) {
            options.add("--output=" + folder.resolve("clip.mp4"));
        }
        List<String> lines = new ArrayList<>();
        for (String name : List.of("generate", "plan")) {
            List<String> arguments = new ArrayList<>(List.of(name, "A red circle", "--quiet"));
            options.stream().filter(o -> !o.startsWith("--model") || wrong.startsWith("--model")).forEach(arguments::add);
            if (!wrong.startsWith("--model")) {
                arguments.add("--model=" + MODEL);
            }
            Captured terminal = new Captured(false);
            assertThat(terminal.kinema(arguments.toArray(String[]::new))).as(terminal.err()).isEqualTo(ExitCode.BAD_INPUT);
            assertThat(terminal.errors()).hasSize(1);
            lines.add(terminal.errors().getFirst().replace("kinema " + name, "kinema"));
        }
        assertThat(lines.getFirst()).isEqualTo(lines.getLast());
        assertThat(folder).isEmptyDirectory();
    }
}
