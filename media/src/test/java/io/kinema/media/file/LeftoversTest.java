package io.kinema.media.file;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a killed process leaves goes; what anybody living has stays. */
class LeftoversTest {
    private static final String DEAD = "dead";

    @TempDir
    private Path folder;

    @Test
    void whatALivingProcessHasStaysAndWhatAKilledOneLeftGoes() throws Exception {
        Process writer = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx32m", "-XX:+UseSerialGC", "-cp",
                System.getProperty("java.class.path"), Writer.class.getName(), folder.toString()).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        try {
            assertThat(writer.getInputStream().read()).isEqualTo('w');
            List<Path> living = parts();
            assertThat(living).hasSize(2);
            Leftovers.removeIn(folder);
            assertThat(parts()).isEqualTo(living);
        } finally {
            writer.destroyForcibly().waitFor();
        }
        assertThat(parts()).hasSize(2);
        Leftovers.removeIn(folder);
        assertThat(folder).isEmptyDirectory();
    }

    static final class Writer {
        public static void main(String[] arguments) throws Exception {
            Path folder = Path.of(arguments[0]);
            try (AtomicFile file = AtomicFile.create(folder.resolve("a.wav")); StagedFiles staged = new StagedFiles()) {
                Files.writeString(Files.createDirectories(staged.stageFolder(folder, name -> false)).resolve("frame"), "half");
                System.out.write('w');
                System.out.flush();
                file.channel().force(true);
                Thread.sleep(600_000);
            }
        }
    }

    @Test
    void aLockKeepsWhatSeemsToBeLeft() throws IOException {
        Path file = Files.writeString(folder.resolve(ofDead()), "half");
        Path hidden = Files.createDirectory(folder.resolve(ofDead()));
        Path lock = Files.writeString(hidden.resolve(Leftovers.LOCK), "");
        try (FileChannel one = FileChannel.open(file, StandardOpenOption.WRITE); FileChannel two = FileChannel.open(lock, StandardOpenOption.WRITE)) {
            assertThat(one.tryLock()).isNotNull();
            assertThat(two.tryLock()).isNotNull();
            Leftovers.removeIn(folder);
            assertThat(parts()).hasSize(2);
        }
        Leftovers.removeIn(folder);
        assertThat(folder).isEmptyDirectory();
    }

    @Test
    void anotherHostsAndAnotherContainersStay() throws IOException {
        String here = Leftovers.kernel().orElseThrow();
        String namespace = here.substring(here.indexOf('-'));
        long dead = deadPid();
        List<String> others = List.of(Leftovers.name("0".repeat(32) + namespace, dead, DEAD), Leftovers.name(here + "1", dead, DEAD),
                Leftovers.name(here, ProcessHandle.current().parent().orElseThrow().pid(), DEAD), Leftovers.newKeptName(), Leftovers.newName(),
                ".kinema-" + dead + "-12ab.part", "clip.part", ".kinema-x.part");
        for (String name : others) {
            Files.writeString(folder.resolve(name), "");
        }
        Files.createDirectory(folder.resolve(ofDead()));
        Path elsewhere = Files.writeString(Files.createDirectory(folder.resolve("elsewhere")).resolve(Leftovers.LOCK), "precious");
        Files.createSymbolicLink(folder.resolve(ofDead()), elsewhere.getParent());
        Files.createSymbolicLink(folder.resolve(ofDead()), elsewhere);
        Leftovers.removeIn(folder);
        assertThat(parts()).as("others', a folder without a lock, links").hasSize(others.size() + 3);
        assertThat(elsewhere).hasContent("precious");
        Leftovers.removeIn(folder.resolve("missing"));
    }

    @Test
    void anEarlierProcessOfTheSameNumberIsGone() throws IOException {
        Files.writeString(folder.resolve(Leftovers.name(Leftovers.kernel().orElseThrow(), ProcessHandle.current().pid(), DEAD)), "half");
        Leftovers.removeIn(folder);
        assertThat(folder).isEmptyDirectory();
    }

    private static String ofDead() {
        return Leftovers.name(Leftovers.kernel().orElseThrow(), deadPid(), DEAD);
    }

    /** Above the most that Linux gives. */
    private static long deadPid() {
        return 1L << 23;
    }

    private List<Path> parts() throws IOException {
        try (Stream<Path> all = Files.list(folder)) {
            return all.filter(path -> path.toString().endsWith(".part")).sorted().toList();
        }
    }
}
