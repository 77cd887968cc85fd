package io.kinema.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** bench, qualify, capabilities and {@code --execution auto} as a user types them. */
class MeasureTest {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String MODEL = Shell.ROOT.resolve("models/h3-nano").toString();

    @TempDir
    private Path folder;

    @BeforeEach
    void useAnotherLedger() {
        System.setProperty("kinema.ledger", folder.resolve("ledger.jsonl").toString());
    }

    @AfterEach
    void forgetIt() {
        System.clearProperty("kinema.ledger");
    }

    private String contract() throws IOException {
        return Files.writeString(folder.resolve("contract.json"), """
                {"schema": "kinema.bench/1", "name": "tiny", "request": {"prompt": "A red circle", "width": 64, "height": 64, "frames": 22, "steps": 2},
                 "execution": {"model": "%s", "threads": 1}}""".formatted(MODEL)).toString();
    }

    private static Captured kinema(int exit, String... arguments) {
        Captured run = new Captured(false);
        assertThat(run.kinema(arguments)).as(run.err()).isEqualTo(exit);
        return run;
    }

    @Test
    void benchPrintsAReportAndKeepsItsFiles() throws IOException {
        Path output = folder.resolve("bench");
        Captured run = new Captured(false);
        int exit = run.kinema("bench", "--contract", contract(), "--output", output.toString(), "--json", "--min-tflops", "0");
        JsonNode report = JSON.readTree(run.out());
        assertThat(report.path("schema").asText()).isEqualTo("kinema.bench-report/1");
        assertThat(report.path("rejected").isNull()).isTrue();
        // Whether four requests were steady is this machine's business; the exit code must say it.
        assertThat(exit).isEqualTo(report.path("passed").asBoolean() ? ExitCode.DONE : ExitCode.FAILED);
        assertThat(JSON.readTree(output.resolve("performance.json").toFile())).isEqualTo(report);
        assertThat(output.resolve("performance.md")).content().contains("| useful GFLOP/s |");
        assertThat(output.resolve("contract.json")).exists();
        assertThat(Files.readAllLines(output.resolve("telemetry.jsonl"))).isNotEmpty();
        assertThat(output.resolve("run-3/clip.mp4")).isNotEmptyFile();
        assertThat(kinema(ExitCode.BAD_INPUT, "bench", "--contract", contract(), "--output", output.toString()).errors()).singleElement().asString()
                .contains("--output", "which holds files");
    }

    @Test
    void wrongContractsAreOneLine() throws IOException {
        Path broken = Files.writeString(folder.resolve("broken.json"), "{\"schema\": \"kinema.bench/1\"");
        for (List<String> wrong : List.of(List.of("bench", "--contract", broken.toString()), List.of("bench", "--contract", folder.resolve("none.json").toString()),
                List.of("bench"), List.of("bench", "--contract", contract(), "--max-cv", "0.5"), List.of("qualify", "--contract", contract()),
                List.of("qualify", "--contract", contract(), "--candidate", "speed=1"), List.of("qualify", "--contract", contract(), "--candidate", "precision"),
                List.of("plan", "A red circle", "--model", MODEL, "--execution", "fast"))) {
            Captured run = kinema(ExitCode.BAD_INPUT, wrong.toArray(String[]::new));
            assertThat(run.errors()).as("%s", wrong).hasSize(1);
            assertThat(run.out()).isEmpty();
        }
        assertThat(folder.resolve("ledger.jsonl")).doesNotExist();
    }

    @Test
    void capabilitiesAreOneDocument() throws IOException {
        JsonNode json = JSON.readTree(kinema(ExitCode.DONE, "capabilities", "--json").out());
        assertThat(json.path("schema").asText()).isEqualTo("kinema.capabilities/1");
        assertThat(json.path("capabilities").path("backend").path("cpu").path("available").asBoolean()).isTrue();
        assertThat(kinema(ExitCode.DONE, "capabilities").out().lines()).allMatch(line -> line.startsWith("yes ") || line.startsWith("no "));
    }

    @Test
    void autoSaysThatNothingIsQualified() throws IOException {
        Captured plan = kinema(ExitCode.DONE, "plan", "A red circle", "--model", MODEL, "--execution", "auto");
        assertThat(plan.out()).contains("route      auto: the options as given, because nothing faster is qualified for");
        JsonNode json = JSON.readTree(kinema(ExitCode.DONE, "plan", "A red circle", "--model", MODEL, "--execution", "auto", "--json").out());
        assertThat(json.path("route").path("qualified").asBoolean()).isFalse();
        assertThat(JSON.readTree(kinema(ExitCode.DONE, "plan", "A red circle", "--model", MODEL, "--json").out()).has("route")).isFalse();
    }

    @Test
    void qualifyWritesTheLedgerThatListShows() throws IOException {
        assertThat(kinema(ExitCode.DONE, "qualify", "--list").out()).contains("0 entries");
        Captured run = new Captured(false);
        int exit = run.kinema("qualify", "--contract", contract(), "--candidate", "precision=bf16-fp32res,threads=2", "--json", "--quiet");
        JsonNode entry = JSON.readTree(run.out()).path("entries").path(0);
        assertThat(entry.path("candidate").path("options").path("precision").asText()).isEqualTo("bf16-fp32res");
        assertThat(exit).isEqualTo(entry.path("verdict").asText().equals("qualified") ? ExitCode.DONE : ExitCode.FAILED);
        assertThat(kinema(ExitCode.DONE, "qualify", "--list").out()).contains(entry.path("sha256").asText().substring(0, 12), entry.path("verdict").asText(), "1 entries in");
        Files.writeString(folder.resolve("ledger.jsonl"), Files.readString(folder.resolve("ledger.jsonl")).replace("bf16-fp32res", "fp32"));
        assertThat(kinema(ExitCode.FAILED, "qualify", "--list").out()).contains("!! line 1 was changed after it was written");
    }
}
