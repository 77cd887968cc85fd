package io.kinema.measure.bench;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import jdk.jfr.FlightRecorder;
import jdk.jfr.RecordingState;

/**
 * What could make this process slower or faster than a user's: profilers, debuggers, interpreters, injected libraries.
 *
 * @param arguments   of the virtual machine
 * @param recordings  running Flight Recorder recordings
 * @param libraries   names of the native libraries that are loaded
 * @param tracer      process that traces this one, 0 for none
 * @param environment of the process
 */
record JvmState(List<String> arguments, int recordings, Set<String> libraries, long tracer, Map<String, String> environment) {
    private static final List<String> ARGUMENTS = List.of("-Xint", "-agentlib:", "-agentpath:", "-javaagent:", "-Xrunjdwp", "-Xdebug", "-Xprof",
            "-XX:TieredStopAtLevel=", "-XX:-UseCompiler", "-XX:StartFlightRecording", "-XX:+UnlockCommercialFeatures");
    private static final List<String> LIBRARIES = List.of("libinstrument.", "libjdwp.", "libasyncProfiler.", "libhprof.", "libjprofilerti.", "libyjpagent.",
            "libToolsInjection", "libcupti.");
    private static final List<String> ENVIRONMENT = List.of("LD_PRELOAD", "CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH", "NSYS_PROFILING_SESSION_ID");

    static JvmState current() {
        return new JvmState(ManagementFactory.getRuntimeMXBean().getInputArguments(), recording(), mapped(), traced(), System.getenv());
    }

    /** One phrase for each thing that a measurement must be free of. */
    List<String> problems() {
        List<String> problems = new ArrayList<>();
        for (String argument : arguments) {
            ARGUMENTS.stream().filter(argument::startsWith).findFirst().ifPresent(found -> problems.add("the JVM runs with " + found));
        }
        if (recordings > 0) {
            problems.add("Flight Recorder is recording");
        }
        for (String library : libraries) {
            LIBRARIES.stream().filter(library::startsWith).findFirst().ifPresent(found -> problems.add(library + " is loaded"));
        }
        if (tracer != 0) {
            problems.add("process " + tracer + " traces this one");
        }
        for (String variable : ENVIRONMENT) {
            if (!environment.getOrDefault(variable, "").isEmpty()) {
                problems.add(variable + " is set");
            }
        }
        return problems;
    }

    /** Asking for the recorder would start it. */
    private static int recording() {
        return !FlightRecorder.isInitialized() ? 0
                : (int) FlightRecorder.getFlightRecorder().getRecordings().stream().filter(r -> r.getState() == RecordingState.RUNNING).count();
    }

    private static Set<String> mapped() {
        try (Stream<String> lines = Files.lines(Path.of("/proc/self/maps"), StandardCharsets.ISO_8859_1)) {
            Set<String> names = new TreeSet<>();
            lines.filter(line -> line.contains(".so")).forEach(line -> names.add(line.substring(line.lastIndexOf('/') + 1)));
            return names;
        } catch (IOException noSuchView) {
            return Set.of();
        }
    }

    private static long traced() {
        try (Stream<String> lines = Files.lines(Path.of("/proc/self/status"), StandardCharsets.ISO_8859_1)) {
            return lines.filter(line -> line.startsWith("TracerPid:")).mapToLong(line -> Long.parseLong(line.substring(10).strip())).findFirst().orElse(0);
        } catch (IOException | NumberFormatException unknown) {
            return 0;
        }
    }
}
