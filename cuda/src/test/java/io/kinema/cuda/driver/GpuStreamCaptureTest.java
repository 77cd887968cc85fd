package io.kinema.cuda.driver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class GpuStreamCaptureTest {
    private final StandInDriver driver = new StandInDriver(Map.of(), false);
    private final GpuContext context = driver.open(0);
    private final GpuStream stream = new GpuStream(context);
    private final long from = context.allocate(16);
    private final long to = context.allocate(16);

    @AfterEach
    void close() {
        context.free(from);
        context.free(to);
        stream.close();
        context.close();
        assertThat(driver.graphs()).as("graphs left behind").isZero();
    }

    @Test
    void capturedWorkRunsWhenItIsLaunchedAndEveryTime() {
        try (GpuGraph graph = stream.capture(() -> stream.copy(from, to, 16)).orElseThrow()) {
            stream.fill(from, (byte) 1, 16);
            assertThat(first(to)).as("nothing ran yet").isEqualTo((byte) 0x7f);
            graph.launch(stream);
            assertThat(first(to)).isEqualTo((byte) 1);
            stream.fill(from, (byte) 2, 16);
            graph.launch(stream);
            assertThat(first(to)).isEqualTo((byte) 2);
        }
    }

    @Test
    void workThatNeedsTheHostIsNoGraphAndTheStreamGoesOn() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment host = arena.allocate(16);
            for (Runnable hostWork : new Runnable[] {() -> stream.upload(host, from, 16), () -> stream.download(from, host, 16), stream::synchronize}) {
                Optional<GpuGraph> graph = stream.capture(() -> {
                    stream.fill(to, (byte) 3, 16);
                    hostWork.run();
                });
                assertThat(graph).isEmpty();
                assertThat(first(to)).isEqualTo((byte) 0x7f);
            }
            stream.upload(host, to, 16);
            assertThat(first(to)).isZero();
        }
    }

    @Test
    void aFailureOfTheWorkEndsTheCapture() {
        assertThatExceptionOfType(IllegalStateException.class).isThrownBy(() -> stream.capture(() -> {
            throw new IllegalStateException("broken");
        })).withMessage("broken");
        stream.fill(to, (byte) 4, 16);
        assertThat(first(to)).isEqualTo((byte) 4);
    }

    private static byte first(long address) {
        return StandInDriver.at(address).get(ValueLayout.JAVA_BYTE, 0);
    }
}
