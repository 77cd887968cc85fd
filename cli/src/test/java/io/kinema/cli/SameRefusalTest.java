package io.kinema.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What one command refuses of the model's and the device's options, every command that takes them refuses, in the same words and before any work. */
class SameRefusalTest {
    private static final String NANO = Path.of(System.getProperty("kinema.root"), "models", "h3-nano", "transformer").toString();
    private static final String CONTRACT = Path.of(System.getProperty("kinema.root"), "contracts", "h3-nano.json").toString();

    @TempDir
    private Path folder;

    private Map<String, List<String>> commands() {
        String data = folder.resolve("data").toString();
        return Map.of(
                "generate", List.of("generate", "A red circle", "--output", folder.resolve("clip.mp4").toString()),
                "plan", List.of("plan", "A red circle"),
                "serve", List.of("serve", "--port", "0", "--data", data),
                "worker", List.of("worker", "--queue", "jdbc:postgresql://127.0.0.1:1/none?user=nobody", "--data", data),
                "step", List.of("step", "--device", "cpu", "--transformer", NANO, "--video-rows", "4", "--audio-rows", "2", "--text-rows", "1", "--runs", "1"),
                "decode", List.of("decode", "--device", "cpu"),
                "verify", List.of("verify", "--device", "cpu", folder.toString()));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "--max-device-memory=1GiB        | generate plan serve worker step decode verify | --max-device-memory: got 1073741824 bytes on device cpu, expected none",
        "--attention-backend=flash       | generate plan serve worker step decode verify | --attention-backend: got 'flash' on device cpu, expected none",
        "--attention-query-tile=64       | generate plan serve worker step decode verify | --attention-query-tile: got 64 on device cpu, expected none",
        "--kernel-architecture=70        | generate plan serve worker step decode verify | --kernel-architecture: got 70 on device cpu, expected none",
        "--host-weights=pinned           | generate plan serve worker step | --host-weights: got pinned on device cpu, expected mmap or pageable",
        "--graph-replay=on               | generate plan serve worker | --graph-replay: got 'on' on device cpu, expected none",
        "--graph-replay=off              | generate plan serve worker | --graph-replay: got 'off' on device cpu, expected none",
        "--resident-layers=3             | generate plan serve worker step | --resident-layers: got 3, expected none without layer offload",
        "--weight-offload=layer --resident-layers=9 | generate plan serve worker step | --resident-layers: got 9, expected 0 to 8, the layers of this transformer; 8 keeps all of them",
        "--tensor-parallel=3             | generate plan serve worker step verify | --tensor-parallel: got 3, expected 1, 2 or 4 ranks",
        "--precision=fp64                | generate plan serve worker step verify | --precision: got 'fp64', expected fp32, fp16-fp32res, bf16-fp32res",
        "--device=tpu:0                  | generate plan serve worker | --device: got tpu:0, this build runs on cpu and cuda:N",
        "--device=cuda:0,1               | generate plan serve worker | --device: got cuda:0,1, which is 2 devices, expected one for each of 1 rank; add --tensor-parallel 2",
        "--device=cuda:0 --attention-backend=best | generate plan serve worker | --attention-backend: got 'best', expected auto, cudnn, flash or reference",
        "--transformer=nowhere           | generate plan serve worker | nowhere: no such file",
        "--max-host-memory=1M            | generate plan serve worker | --max-host-memory: got 1000000 bytes, expected at least",
    })
    void theSameWords(String options, String names, String says) {
        for (String name : names.split(" ")) {
            List<String> arguments = new ArrayList<>(commands().get(name));
            arguments.addAll(List.of(options.split(" ")));
            Captured terminal = new Captured(false);
            assertThat(terminal.kinema(arguments.toArray(String[]::new))).as("%s: %s", name, terminal.err()).isEqualTo(ExitCode.BAD_INPUT);
            assertThat(terminal.errors()).singleElement().asString().startsWith("kinema " + name + ": " + says);
            assertThat(terminal.out()).isEmpty();
            assertThat(folder).isEmptyDirectory();
        }
    }

    /** A machine with a thousand GPUs would be needed. */
    @ParameterizedTest
    @CsvSource({"generate", "serve", "worker"})
    void aGpuThatIsNotThere(String name) {
        List<String> arguments = new ArrayList<>(commands().get(name));
        arguments.add("--device=cuda:999");
        Captured terminal = new Captured(false);
        assertThat(terminal.kinema(arguments.toArray(String[]::new))).isEqualTo(ExitCode.FAILED);
        assertThat(terminal.errors()).singleElement().asString().startsWith("kinema " + name + ": device cuda:999: ").endsWith("or run with --device cpu");
        arguments.removeLast();
        arguments.addAll(List.of("--device=cuda:998,999", "--tensor-parallel=2"));
        Captured ranks = new Captured(false);
        assertThat(ranks.kinema(arguments.toArray(String[]::new))).isEqualTo(ExitCode.FAILED);
        assertThat(ranks.errors()).singleElement().asString().startsWith("kinema " + name + ": ranks on cuda:998,999: device cuda:998: ").endsWith("or run with --device cpu");
        assertThat(folder).isEmptyDirectory();
    }

    /** All candidates are looked at before the first clip of the first one. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "weight_offload=layer,resident_layers=9 | resident_layers: got 9, expected 0 to 8",
        "graph_replay=on                        | graph_replay: got 'on' on device cpu",
        "transformer=nowhere                    | nowhere: no such file"})
    void aCandidateThatCannotRun(String candidate, String says) {
        Captured terminal = new Captured(false);
        assertThat(terminal.kinema("qualify", "--contract", CONTRACT, "--candidate", "threads=1", "--candidate", candidate)).isEqualTo(ExitCode.BAD_INPUT);
        assertThat(terminal.errors()).singleElement().asString().startsWith("kinema qualify: " + says);
    }

    @Test
    void aServerRunsAllJobsInOneWay() {
        for (String name : List.of("serve", "worker")) {
            List<String> arguments = new ArrayList<>(commands().get(name));
            arguments.add("--execution=auto");
            Captured terminal = new Captured(false);
            assertThat(terminal.kinema(arguments.toArray(String[]::new))).isEqualTo(ExitCode.BAD_INPUT);
            assertThat(terminal.errors()).singleElement().asString().startsWith("kinema " + name + ": --execution: got 'auto', expected explicit here");
        }
    }
}
