package io.kinema.engine.inspect;

import static org.assertj.core.api.Assertions.assertThat;

import io.kinema.engine.model.Component;
import io.kinema.engine.model.ModelFolder;
import io.kinema.weights.TensorSource;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.assertj.core.groups.Tuple;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A checkpoint of the released size is inspected and opened in seconds and within 1 GB, because nothing reads its data. */
class FullSizeCheckpointTest {
    private static final long GIGABYTE = 1_000_000_000L;
    private static final double SECONDS = 10;

    @TempDir
    private Path temp;

    @Test
    void inTheOriginalLayout() throws Exception {
        Path folder = FullSizeCheckpoint.original(temp.resolve("FL2VA"));
        ModelReport report = ModelInspector.inspect(folder);
        assertThat(report.components()).filteredOn(c -> !c.tensors().isEmpty())
                .extracting(ComponentReport::name, c -> c.tensors().size(), c -> c.fit().orElseThrow().problem().isPresent())
                .containsExactly(tuple("text_encoder", 1058), tuple("video_vae", 560), tuple("audio_vae", 1087), tuple("transformer", 535));
        assertThat(bytes(report, "transformer")).isEqualTo(66_280_430_144L);
        inAProcessOfItsOwn(folder, 144_015_000_000L);
    }

    @Test
    @Tag("long")
    void inTheDiffusersLayout() throws Exception {
        Path folder = FullSizeCheckpoint.diffusers(temp.resolve("model"));
        ModelReport report = ModelInspector.inspect(folder);
        assertThat(report.components()).filteredOn(c -> !c.tensors().isEmpty())
                .extracting(ComponentReport::name, c -> c.tensors().size(), c -> c.fit().orElseThrow().problem().isPresent())
                .containsExactly(tuple("text_encoder", 1058), tuple("vae", 703), tuple("audio_vae", 1087), tuple("transformer", 638),
                        tuple("transformer_ref", 638));
        assertThat(bytes(report, "transformer")).isEqualTo(66_280_430_080L);
        inAProcessOfItsOwn(folder, 210_295_000_000L);
    }

    private static Tuple tuple(String name, int tensors) {
        return Tuple.tuple(name, tensors, false);
    }

    private static long bytes(ModelReport report, String name) {
        return report.components().stream().filter(c -> c.name().equals(name)).findFirst().orElseThrow().bytes();
    }

    private static void inAProcessOfItsOwn(Path folder, long apparentBytes) throws IOException, InterruptedException {
        assertThat(apparentBytes(folder)).isGreaterThan(apparentBytes);
        Process child = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx256m", "-XX:+UseSerialGC",
                "-cp", System.getProperty("java.class.path"), Measured.class.getName(), folder.toString()).redirectErrorStream(true).start();
        String output = new String(child.getInputStream().readAllBytes());
        assertThat(child.waitFor()).as(output).isZero();
        List<String> words = List.of(output.strip().split(" "));
        assertThat(Double.parseDouble(words.get(0))).as("seconds of a processor").isLessThan(SECONDS);
        assertThat(Long.parseLong(words.get(1))).as("peak resident bytes, 0 where the system does not tell").isLessThan(GIGABYTE);
    }

    private static long apparentBytes(Path folder) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            return files.filter(Files::isRegularFile).mapToLong(f -> f.toFile().length()).sum();
        }
    }

    /**
     * Inspects a model and opens every network's weights; prints the seconds of a processor that the whole process took, which no other process
     * lengthens, and its peak resident bytes.
     */
    static final class Measured {
        private Measured() {
        }

        public static void main(String[] args) throws IOException {
            Path folder = Path.of(args[0]);
            ModelReport report = ModelInspector.inspect(folder);
            if (report.components().stream().anyMatch(c -> c.fit().filter(f -> f.problem().isPresent()).isPresent())) {
                throw new IllegalStateException("a component does not fit its config");
            }
            ModelFolder model = ModelFolder.open(folder);
            for (Component component : model.folders().keySet()) {
                if (component.network()) {
                    try (TensorSource source = model.open(component)) {
                        source.names().forEach(source::shape);
                    }
                }
            }
            Duration processor = ProcessHandle.current().info().totalCpuDuration().orElse(Duration.ZERO);
            System.out.println(processor.toMillis() / 1e3 + " " + peakResidentBytes());
        }

        private static long peakResidentBytes() throws IOException {
            Path status = Path.of("/proc/self/status");
            return !Files.isReadable(status) ? 0 : Files.readAllLines(status).stream().filter(l -> l.startsWith("VmHWM:"))
                    .mapToLong(l -> 1024 * Long.parseLong(l.replaceAll("\\D", ""))).findFirst().orElse(0);
        }
    }
}
