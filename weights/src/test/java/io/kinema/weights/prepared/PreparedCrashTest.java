package io.kinema.weights.prepared;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Whatever moment a process dies in, the next finds a whole entry or none, gets the same bits, and leaves nothing of the dead behind. */
class PreparedCrashTest {
    private static final Map<String, String> EXPECTED = CacheChild.expected();

    private static final int AT_ONCE = 4;

    @TempDir
    private Path temp;
    private Path source;

    @BeforeEach
    void writeSource() throws IOException {
        source = Files.writeString(temp.resolve("model.safetensors"), "weights");
    }

    /** Three files are made durable, two of them with their names, and the folder gets its name. */
    @Test
    void aProcessMayDieBeforeEveryStepThatMakesSomethingDurableOrNamesIt() throws Exception {
        dieAtEach("force|move", 9);
    }

    /** Folders, files, every part of every tensor, and all of the above. */
    @Test
    @Tag("long")
    void aProcessMayDieBeforeEveryStepOnTheDisk() throws Exception {
        dieAtEach("", 23);
    }

    private void dieAtEach(String kind, int least) throws Exception {
        String[] whole = outcome(CacheChild.start(temp.resolve("whole"), source, -1, kind));
        int steps = Integer.parseInt(whole[whole.length - 1]);
        assertThat(steps).isGreaterThanOrEqualTo(least);
        List<Integer> found = new ArrayList<>();
        for (int first = 0; first < steps; first += AT_ONCE) {
            List<Process> dying = new ArrayList<>();
            for (int step = first; step < Math.min(steps, first + AT_ONCE); step++) {
                dying.add(CacheChild.start(temp.resolve("cache" + step), source, step, kind));
            }
            for (int step = first; step < first + dying.size(); step++) {
                assertThat(dying.get(step - first).waitFor()).as("step %s", step).isEqualTo(CacheChild.DIED);
                if (wholeOrAbsent(temp.resolve("cache" + step))) {
                    found.add(step);
                }
            }
        }
        assertThat(found).as("only what comes after the ready marker has its name leaves an entry").containsExactly(steps - 1);
    }

    /** The second finds what the first left, and dies while it removes it. */
    @Test
    void aProcessMayDieWhileItRemovesWhatAnotherLeft() throws Exception {
        for (int step = 0; step < 3; step++) {
            Path folder = temp.resolve("cache" + step);
            assertThat(CacheChild.start(folder, source, 0, "force").waitFor()).isEqualTo(CacheChild.DIED);
            assertThat(CacheChild.start(folder, source, step, "").waitFor()).isEqualTo(CacheChild.DIED);
            assertThat(wholeOrAbsent(folder)).as("step %s", step).isFalse();
        }
    }

    @Test
    void aMarkedEntryMayLoseItsReaderBetweenStepsToo() throws Exception {
        Path folder = temp.resolve("cache");
        outcome(CacheChild.start(folder, source));
        // Another inode: the next reader compares the content and marks the entry anew, step by step.
        for (int step = 0; step < 4; step++) {
            Path weights = entry(folder).resolve(CacheLayout.WEIGHTS);
            Path copy = Files.copy(weights, temp.resolve("copy"));
            Files.delete(weights);
            Files.move(copy, weights);
            assertThat(CacheChild.start(folder, source, step, "").waitFor()).isEqualTo(CacheChild.DIED);
            assertThat(wholeOrAbsent(folder)).as("step %s", step).isTrue();
        }
    }

    @Test
    @Tag("long")
    void aProcessMayBeKilledAtAnyMoment() throws Exception {
        for (int round = 0; round < 40; round++) {
            Path folder = temp.resolve("cache" + round);
            Process child = CacheChild.start(folder, source);
            Thread.sleep(10L * round);
            child.destroyForcibly().waitFor();
            wholeOrAbsent(folder);
        }
    }

    @Test
    void processesThatWantOneEntryAtOnceMakeItOnce() throws Exception {
        Path folder = temp.resolve("cache");
        List<Process> children = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            children.add(CacheChild.start(folder, source));
        }
        List<String> how = new ArrayList<>();
        for (Process child : children) {
            String[] words = outcome(child);
            how.add(words[0]);
            assertThat(String.join(" ", words)).contains(EXPECTED.toString());
        }
        assertThat(how).containsOnly("built", "found").containsOnlyOnce("built");
    }

    /** @return whether there was one */
    private boolean wholeOrAbsent(Path folder) throws IOException {
        CacheChild.Outcome next = CacheChild.want(new PreparedCache(folder, CacheLimits.DEFAULTS), CacheChild.key(source));
        assertThat(next.how()).isIn("found", "built");
        assertThat(next.hashes()).isEqualTo(EXPECTED);
        try (Stream<Path> files = Files.list(folder)) {
            assertThat(files.map(file -> file.getFileName().toString().replaceAll("-.*", ""))).containsExactlyInAnyOrder("entry", "locks");
        }
        return next.how().equals("found");
    }

    private static Path entry(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.filter(Files::isDirectory).findFirst().orElseThrow();
        }
    }

    private static String[] outcome(Process child) throws Exception {
        String line = new String(child.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
        assertThat(child.waitFor()).as(line).isZero();
        return line.split(" ");
    }
}
