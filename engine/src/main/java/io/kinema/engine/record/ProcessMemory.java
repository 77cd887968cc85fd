package io.kinema.engine.record;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * Physical memory of this process as Linux counts it, in bytes; 0 where it does not say.
 *
 * @param peakResident most at once of both kinds ({@code VmHWM})
 * @param anonymous    heap, scratch and copies ({@code RssAnon})
 * @param mappedFiles  pages of mapped files ({@code RssFile}), which the system can drop
 */
public record ProcessMemory(long peakResident, long anonymous, long mappedFiles) {
    private static final Path STATUS = Path.of("/proc/self/status");

    /** Now. */
    public static ProcessMemory now() {
        try {
            List<String> lines = Files.readAllLines(STATUS);
            return new ProcessMemory(bytes(lines, "VmHWM:"), bytes(lines, "RssAnon:"), bytes(lines, "RssFile:"));
        } catch (IOException e) {
            return new ProcessMemory(0, 0, 0);
        }
    }

    /** Both kinds. */
    public long resident() {
        return anonymous + mappedFiles;
    }

    private static long bytes(List<String> lines, String field) {
        return lines.stream().filter(line -> line.startsWith(field)).mapToLong(line -> 1024 * Long.parseLong(line.replaceAll("\\D", ""))).findFirst().orElse(0);
    }
}
