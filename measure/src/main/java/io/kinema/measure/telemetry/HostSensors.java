package io.kinema.measure.telemetry;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.DoubleSummaryStatistics;
import java.util.stream.Stream;

/** The processor's clocks and load, from the operating system. */
final class HostSensors {
    private static final Path CPU = Path.of("/proc/cpuinfo");

    private HostSensors() {
    }

    /** Clocks of all cores in MHz; empty statistics where the system does not tell. */
    static DoubleSummaryStatistics clocks() {
        try (Stream<String> lines = Files.lines(CPU, StandardCharsets.ISO_8859_1)) {
            return lines.filter(line -> line.startsWith("cpu MHz")).mapToDouble(line -> Double.parseDouble(line.substring(line.indexOf(':') + 1).strip()))
                    .summaryStatistics();
        } catch (IOException | NumberFormatException unknown) {
            return new DoubleSummaryStatistics();
        }
    }

    static double systemLoad() {
        return share(system().getCpuLoad());
    }

    static double processLoad() {
        return share(system().getProcessCpuLoad());
    }

    static long freeBytes() {
        return system().getFreeMemorySize();
    }

    /** The bean says -1 for unknown. */
    private static double share(double load) {
        return load < 0 ? Double.NaN : load;
    }

    private static OperatingSystemMXBean system() {
        return ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
    }
}
