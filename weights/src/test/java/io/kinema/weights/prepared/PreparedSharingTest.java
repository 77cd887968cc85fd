package io.kinema.weights.prepared;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Two processes with one entry: the memory is there once, and neither takes it from the other. */
class PreparedSharingTest {
    @TempDir
    private Path temp;
    private Path source;
    private Path folder;
    private PreparedCache cache;

    @BeforeEach
    void build() throws IOException {
        source = Files.writeString(temp.resolve("model.safetensors"), "weights");
        folder = temp.resolve("cache");
        cache = new PreparedCache(folder, CacheLimits.DEFAULTS);
        assertThat(CacheChild.want(cache, CacheChild.key(source)).how()).isEqualTo("built");
    }

    @Test
    void pagesAreSharedAndNoneIsPrivate() throws Exception {
        Process child = CacheChild.holding(folder, source);
        try (BufferedReader lines = child.inputReader(StandardCharsets.UTF_8); HeldEntry held = hold(); PreparedEntry entry = held.map()) {
            assertThat(lines.readLine()).startsWith("holds ");
            assertThat(CacheChild.hashes(entry)).isEqualTo(CacheChild.expected());
            for (long pid : List.of(child.pid(), ProcessHandle.current().pid())) {
                Map<String, Long> kib = mapping(pid);
                assertThat(kib.get("Rss")).as("%s", kib).isGreaterThanOrEqualTo(entry.bytes() / 1024);
                assertThat(kib.get("Private_Clean") + kib.get("Private_Dirty")).as("%s", kib).isZero();
                assertThat(kib.get("Pss")).as("half of it: %s", kib).isLessThanOrEqualTo(kib.get("Rss") / 2 + 1);
            }
        } finally {
            child.destroy();
        }
    }

    @Test
    void whatAnotherProcessHoldsIsNotEvictedUntilItDies() throws Exception {
        Process child = CacheChild.holding(folder, source);
        try (BufferedReader lines = child.inputReader(StandardCharsets.UTF_8)) {
            assertThat(lines.readLine()).startsWith("holds ");
            assertThat(cache.entries(false)).singleElement().satisfies(facts -> assertThat(facts.inUse()).isTrue());
            assertThat(cache.clear()).isEqualTo(1);
            child.getOutputStream().close();
            assertThat(lines.readLine()).isEqualTo("held " + CacheChild.expected());
            assertThat(child.waitFor()).isZero();
        } finally {
            child.destroy();
        }
        Process killed = CacheChild.holding(folder, source);
        try (BufferedReader lines = killed.inputReader(StandardCharsets.UTF_8)) {
            assertThat(lines.readLine()).startsWith("holds ");
            assertThat(cache.clear()).isEqualTo(1);
        } finally {
            killed.destroyForcibly().waitFor();
        }
        assertThat(cache.clear()).isZero();
        assertThat(cache.entries(false)).isEmpty();
    }

    private HeldEntry hold() throws IOException {
        return ((PreparedCache.Lookup.Found) cache.look(CacheChild.key(source), Duration.ZERO, _ -> {
        })).entry();
    }

    /** KiB of the weights' mapping, by what the kernel calls them. */
    private static Map<String, Long> mapping(long pid) throws IOException {
        Map<String, Long> kib = new HashMap<>();
        boolean ours = false;
        for (String line : Files.readAllLines(Path.of("/proc", "" + pid, "smaps"))) {
            String[] words = line.split("\\s+");
            if (!words[0].endsWith(":")) {
                ours = line.endsWith(CacheLayout.WEIGHTS);
            } else if (ours && words.length == 3 && words[2].equals("kB")) {
                kib.merge(words[0].substring(0, words[0].length() - 1), Long.parseLong(words[1]), Long::sum);
            }
        }
        return kib;
    }
}
