package io.kinema.model.video;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kinema.compute.Arrival;
import io.kinema.compute.Backend;
import io.kinema.compute.Device;
import io.kinema.compute.Tensor;
import io.kinema.compute.reference.ReferenceBackend;
import io.kinema.model.NonFiniteException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Frames of a device, whose copies arrive only when they are waited for. */
class RgbFrameSinkTest {
    private static final int HEIGHT = 5;
    private static final int WIDTH = 7;

    private final Backend host = new ReferenceBackend();
    private final List<String> events = new ArrayList<>();
    private final Backend device = (Backend) Proxy.newProxyInstance(RgbFrameSinkTest.class.getClassLoader(), new Class<?>[] {Backend.class},
            (_, method, arguments) -> method.getName().equals("download") ? late((Tensor) arguments[0], (MemorySegment) arguments[1])
                    : method.invoke(host, arguments));

    @AfterEach
    void close() {
        host.close();
    }

    /** The bytes as they are now, put there when they are waited for. */
    private Arrival late(Tensor src, MemorySegment to) {
        byte[] bytes = new byte[Math.toIntExact(src.elements() * src.dtype().bytes())];
        MemorySegment.copy(src.data(), 0, MemorySegment.ofArray(bytes), 0, bytes.length);
        events.add("copy");
        return new Arrival() {
            @Override
            public void await() {
                MemorySegment.copy(MemorySegment.ofArray(bytes), 0, to, 0, bytes.length);
                events.add("arrived");
            }

            @Override
            public void close() {
                events.add("closed");
            }
        };
    }

    private static Tensor frames(long seed, int count) {
        Random random = new Random(seed);
        float[] values = new float[3 * count * HEIGHT * WIDTH];
        for (int i = 0; i < values.length; i++) {
            values[i] = (float) random.nextGaussian();
        }
        return Tensor.ofFloats(values, 3, count, HEIGHT, WIDTH);
    }

    private static Tensor onDevice(Tensor frames) {
        return frames.at(frames.data(), new Device(Device.Kind.CUDA, 0));
    }

    @Test
    void aDevicesPicturesHaveTheBytesOfTheHostsAndComeOneCallLater() {
        List<byte[]> expected = new ArrayList<>();
        List<byte[]> got = new ArrayList<>();
        List<Integer> order = new ArrayList<>();
        int[] counts = {2, 19, 1, 8};
        try (RgbFrameSink plain = new RgbFrameSink(host, (index, rgb) -> expected.add(rgb));
             RgbFrameSink late = new RgbFrameSink(device, (index, rgb) -> {
                 order.add(index);
                 got.add(rgb);
             })) {
            int first = 0;
            for (int i = 0; i < counts.length; i++) {
                Tensor some = frames(i, counts[i]);
                plain.frames(first, some);
                late.frames(first, onDevice(some));
                assertThat(got).hasSize(first);
                first += counts[i];
            }
            late.finish();
            late.finish();
        }
        assertThat(order).isEqualTo(IntStream.range(0, 30).boxed().toList());
        assertThat(got).hasSameSizeAs(expected);
        for (int i = 0; i < got.size(); i++) {
            assertThat(got.get(i)).isEqualTo(expected.get(i));
        }
        assertThat(events.stream().filter("closed"::equals)).hasSize(2 * counts.length);
    }

    @Test
    void theNextPicturesAreOnTheirWayBeforeTheLastAreWaitedFor() {
        try (RgbFrameSink sink = new RgbFrameSink(device, (index, rgb) -> { })) {
            sink.frames(0, onDevice(frames(1, 2)));
            sink.frames(2, onDevice(frames(2, 2)));
            assertThat(events).startsWith("copy", "copy", "copy", "copy", "arrived", "arrived", "closed", "closed");
        }
    }

    @Test
    void aDevicesFrameThatIsNotFiniteIsRefusedByItsNumber() {
        Tensor bad = frames(3, 2);
        bad.data().setAtIndex(ValueLayout.JAVA_FLOAT, (long) HEIGHT * WIDTH, Float.NaN);
        try (RgbFrameSink sink = new RgbFrameSink(device, (index, rgb) -> { })) {
            sink.frames(4, onDevice(bad));
            assertThatThrownBy(sink::finish).isInstanceOf(NonFiniteException.class).hasMessageContaining("frame 5");
        }
    }

    @Test
    void picturesBeforeOneThatIsNotFiniteAreHandedOver() {
        Tensor bad = frames(5, 12);
        bad.data().setAtIndex(ValueLayout.JAVA_FLOAT, 10L * HEIGHT * WIDTH, Float.NaN);
        List<Integer> order = new ArrayList<>();
        try (RgbFrameSink sink = new RgbFrameSink(device, (index, rgb) -> order.add(index))) {
            sink.frames(0, onDevice(bad));
            assertThatThrownBy(sink::finish).isInstanceOf(NonFiniteException.class).hasMessageContaining("frame 10");
        }
        assertThat(order).isEqualTo(IntStream.range(0, 10).boxed().toList());
    }

    @Test
    void closingWaitsForWhatIsOnItsWay() {
        RgbFrameSink sink = new RgbFrameSink(device, (index, rgb) -> { });
        sink.frames(0, onDevice(frames(4, 1)));
        sink.close();
        sink.close();
        assertThat(events).containsExactly("copy", "copy", "arrived", "arrived", "closed", "closed");
    }
}
