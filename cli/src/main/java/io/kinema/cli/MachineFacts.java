package io.kinema.cli;

import com.sun.management.OperatingSystemMXBean;
import io.kinema.weights.prepared.PreparedCache;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;

/** What the operating system and the JVM say about where Kinema runs. */
final class MachineFacts {
    private static final long LEAST_MEMORY = 2L << 30;
    private static final long LEAST_DISK = 1L << 30;

    private MachineFacts() {
    }

    static List<Finding> findings() {
        return List.of(jdk(), system(), memory(), disk(), startUpCache(), preparedWeights());
    }

    private static Finding jdk() {
        return Finding.good("jdk", Runtime.version() + " (" + System.getProperty("java.vendor") + "), " + System.getProperty("java.home"));
    }

    private static Finding system() {
        String arch = System.getProperty("os.arch");
        String value = System.getProperty("os.name") + " " + System.getProperty("os.version") + " " + arch + ", "
                + Runtime.getRuntime().availableProcessors() + " cores";
        boolean bundled = System.getProperty("os.name").equals("Linux") && arch.equals("amd64");
        return bundled ? Finding.good("system", value)
                : Finding.bad("system", value, "the bundled native libraries are for Linux on x86-64; run Kinema there");
    }

    private static Finding memory() {
        OperatingSystemMXBean system = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
        long total = system.getTotalMemorySize();
        String value = gibibytes(total) + ", " + gibibytes(system.getFreeMemorySize()) + " free; Java heap at most "
                + gibibytes(Runtime.getRuntime().maxMemory());
        return total >= LEAST_MEMORY ? Finding.good("memory", value)
                : Finding.bad("memory", value, "the bundled model wants " + gibibytes(LEAST_MEMORY));
    }

    private static Finding disk() {
        Path here = Path.of("").toAbsolutePath();
        try {
            FileStore store = Files.getFileStore(here);
            String value = gibibytes(store.getUsableSpace()) + " in " + here;
            return store.getUsableSpace() >= LEAST_DISK ? Finding.good("free_disk", value)
                    : Finding.bad("free_disk", value, "little is left for clips; free some or write to another disk");
        } catch (IOException unreadable) {
            return Finding.bad("free_disk", "unknown in " + here, "the folder's disk cannot be read: " + unreadable.getMessage());
        }
    }

    private static Finding startUpCache() {
        Optional<String> cache = ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
                .filter(argument -> argument.startsWith("-XX:AOTCache=")).map(argument -> argument.substring(13)).findFirst();
        if (cache.isEmpty()) {
            return Finding.bad("startup_cache", "none", System.getProperty("kinema.build") == null
                    ? "start Kinema with the kinema script, which makes one"
                    : "starting takes longer; unset KINEMA_AOT, or see aot/training.log in " + System.getProperty("kinema.build"));
        }
        return isMapped(cache.get()) ? Finding.good("startup_cache", cache.get())
                : Finding.bad("startup_cache", cache.get() + ", not used by this JVM",
                        "starting takes longer; remove the file and start again, or drop JVM options that change the heap");
    }

    private static Finding preparedWeights() {
        PreparedCache cache = PreparedCommand.cache(Optional.empty());
        try {
            List<PreparedCache.EntryFacts> entries = cache.entries(false);
            String value = PreparedCommand.summary(cache, entries);
            return entries.stream().allMatch(entry -> entry.broken().isEmpty()) ? Finding.good("prepared_weights", value)
                    : Finding.bad("prepared_weights", value, "some are broken: they are made anew when they are wanted; kinema prepared --clear removes them");
        } catch (IOException e) {
            return Finding.bad("prepared_weights", "unknown in " + cache.folder(), "the folder cannot be read: " + e.getMessage());
        }
    }

    /** The JVM ignores a cache that does not fit it without a word; the memory map tells. */
    private static boolean isMapped(String file) {
        try (Stream<String> maps = Files.lines(Path.of("/proc/self/maps"))) {
            return maps.anyMatch(line -> line.endsWith(file));
        } catch (IOException noSuchView) {
            return true;
        }
    }

    static String gibibytes(long bytes) {
        return String.format(Locale.ROOT, "%.1f GiB", bytes / (double) (1L << 30));
    }
}
