package io.kinema.engine.record;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * The machine a clip was made on.
 *
 * @param processor   the processor's own name, or its architecture
 * @param cores       available to this process
 * @param memoryBytes physical memory, 0 when unknown
 * @param system      operating system and version
 * @param java        Java runtime and version
 */
public record HostFacts(String processor, int cores, long memoryBytes, String system, String java) {
    /** This machine. */
    public static HostFacts here() {
        String processor = line(Path.of("/proc/cpuinfo"), "model name").orElse(System.getProperty("os.arch"));
        long memory = ManagementFactory.getOperatingSystemMXBean() instanceof com.sun.management.OperatingSystemMXBean os
                ? os.getTotalMemorySize() : 0;
        return new HostFacts(processor, Runtime.getRuntime().availableProcessors(), memory,
                System.getProperty("os.name") + " " + System.getProperty("os.version"),
                System.getProperty("java.vm.name") + " " + Runtime.version());
    }

    /** The most physical memory this process ever held, bytes; 0 where the system does not tell. */
    public static long peakResidentBytes() {
        return line(Path.of("/proc/self/status"), "VmHWM").map(v -> v.replaceAll("[^0-9]", ""))
                .filter(v -> !v.isEmpty()).map(v -> Long.parseLong(v) * 1024).orElse(0L);
    }

    /** The value after the first {@code key:} of a file in /proc. */
    private static Optional<String> line(Path file, String key) {
        try (var lines = Files.lines(file, StandardCharsets.ISO_8859_1)) {
            return lines.filter(l -> l.startsWith(key)).findFirst().map(l -> l.substring(l.indexOf(':') + 1).strip());
        } catch (IOException | java.io.UncheckedIOException e) {
            return Optional.empty();
        }
    }
}
