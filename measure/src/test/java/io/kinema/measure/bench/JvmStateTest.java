package io.kinema.measure.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.Set;
import jdk.jfr.Recording;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class JvmStateTest {
    private static final JvmState CLEAN = new JvmState(List.of("-Xmx2g", "-XX:+UseSerialGC", "--enable-native-access=ALL-UNNAMED"), 0, Set.of("libopenblas.so.0"), 0,
            Map.of("PATH", "/usr/bin", "LD_PRELOAD", ""));

    @Test
    void aUsersProcessIsClean() {
        assertThat(CLEAN.problems()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"-Xint", "-javaagent:profiler.jar", "-agentlib:jdwp=transport=dt_socket", "-agentpath:/opt/libasyncProfiler.so", "-XX:TieredStopAtLevel=1",
            "-XX:StartFlightRecording=filename=x.jfr"})
    void argumentsThatObserveOrSlow(String argument) {
        assertThat(new JvmState(List.of("-Xmx2g", argument), 0, Set.of(), 0, Map.of()).problems()).singleElement().asString().startsWith("the JVM runs with -");
    }

    @Test
    void agentsThatWereAttachedLater() {
        assertThat(new JvmState(List.of(), 0, Set.of("libjdwp.so", "libinstrument.so", "libc.so.6"), 0, Map.of()).problems()).hasSize(2);
        assertThat(new JvmState(List.of(), 0, Set.of(), 4711, Map.of()).problems()).containsExactly("process 4711 traces this one");
        assertThat(new JvmState(List.of(), 0, Set.of(), 0, Map.of("LD_PRELOAD", "libfast.so")).problems()).containsExactly("LD_PRELOAD is set");
    }

    @Test
    void aRunningRecordingIsSeen() {
        try (Recording recording = new Recording()) {
            recording.start();
            assertThat(JvmState.current().problems()).contains("Flight Recorder is recording");
        }
        assertThat(JvmState.current().recordings()).isZero();
    }
}
