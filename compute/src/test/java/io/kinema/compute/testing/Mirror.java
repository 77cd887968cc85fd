package io.kinema.compute.testing;

import io.kinema.compute.Backend;
import io.kinema.compute.Device;
import io.kinema.compute.Tensor;
import io.kinema.compute.Workspace;
import io.kinema.weights.DType;
import java.lang.foreign.MemorySegment;
import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * Owns copies on a device of every stretch of host memory that an operation's arguments view, views with their strides and
 * overlaps as they are, until it is closed.
 */
final class Mirror implements AutoCloseable {
    private final Backend device;
    private final Workspace memory;
    private final List<Stretch> stretches;
    private final Object[] placed;

    private Mirror(Backend device, Object[] arguments) {
        this.device = device;
        this.memory = device.workspace("mirror");
        List<Tensor> views = new ArrayList<>();
        Arrays.stream(arguments).forEach(a -> hostTensors(a, views));
        this.stretches = Stretch.covering(views);
        stretches.forEach(s -> s.upload(device, memory));
        this.placed = Arrays.stream(arguments).map(a -> mapped(a, stretches)).toArray();
    }

    static Mirror of(Backend device, Object[] arguments) {
        return new Mirror(device, arguments);
    }

    /** The arguments with host tensors replaced by their copies. */
    Object[] placed() {
        return placed.clone();
    }

    /** Memory of the device that dies with this. */
    Workspace memory() {
        return memory;
    }

    /** Brings everything back to the host memory that it came from. */
    void download() {
        stretches.forEach(s -> s.download(device));
    }

    @Override
    public void close() {
        memory.close();
    }

    private static void hostTensors(Object argument, List<Tensor> into) {
        switch (argument) {
            case Tensor t when t.device().kind() == Device.Kind.CPU && t.elements() > 0 -> into.add(t);
            case Optional<?> o -> o.ifPresent(v -> hostTensors(v, into));
            case List<?> l -> l.forEach(v -> hostTensors(v, into));
            case Record r -> components(r).forEach(v -> hostTensors(v, into));
            case null, default -> { }
        }
    }

    private static Object mapped(Object argument, List<Stretch> stretches) {
        return switch (argument) {
            case Tensor t when t.device().kind() == Device.Kind.CPU ->
                    stretches.stream().filter(s -> s.holds(t)).findFirst().map(s -> s.mirror(t)).orElseGet(() -> nowhere(t, stretches));
            case Optional<?> o -> o.map(v -> mapped(v, stretches));
            case List<?> l -> l.stream().map(v -> mapped(v, stretches)).toList();
            case Record r when components(r).stream().anyMatch(c -> c instanceof Tensor || c instanceof Optional<?> || c instanceof List<?> || c instanceof Record) ->
                    rebuilt(r, stretches);
            case null, default -> argument;
        };
    }

    /** An empty tensor needs no memory, but must lie on the device. */
    private static Tensor nowhere(Tensor t, List<Stretch> stretches) {
        Device device = stretches.isEmpty() ? Device.CPU : stretches.getFirst().onDevice.device();
        return t.at(MemorySegment.ofAddress(stretches.isEmpty() ? 0 : stretches.getFirst().onDevice.data().address()), device);
    }

    private static List<Object> components(Record record) {
        List<Object> values = new ArrayList<>();
        for (RecordComponent c : record.getClass().getRecordComponents()) {
            try {
                c.getAccessor().setAccessible(true);
                values.add(c.getAccessor().invoke(record));
            } catch (ReflectiveOperationException e) {
                throw new IllegalStateException(e);
            }
        }
        return values;
    }

    private static Object rebuilt(Record record, List<Stretch> stretches) {
        Class<?>[] types = Arrays.stream(record.getClass().getRecordComponents()).map(RecordComponent::getType).toArray(Class<?>[]::new);
        Object[] values = components(record).stream().map(v -> mapped(v, stretches)).toArray();
        boolean encoded = record instanceof io.kinema.weights.EncodedMatrix;
        try {
            var constructor = record.getClass().getDeclaredConstructor(types);
            constructor.setAccessible(true);
            return encoded ? record : constructor.newInstance(values);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Consecutive host bytes that one or more views look at, and their copy on the device. */
    private static final class Stretch {
        private final long from;
        private long to;
        private Tensor onDevice;

        private Stretch(long from, long to) {
            this.from = from;
            this.to = to;
        }

        static List<Stretch> covering(List<Tensor> views) {
            List<Stretch> all = new ArrayList<>();
            views.stream().map(v -> new Stretch(v.data().address(), v.data().address() + span(v))).sorted(Comparator.comparingLong(s -> s.from)).forEach(s -> {
                if (!all.isEmpty() && s.from < all.getLast().to) {
                    all.getLast().to = Math.max(all.getLast().to, s.to);
                } else {
                    all.add(s);
                }
            });
            return all;
        }

        private static long span(Tensor t) {
            long last = 0;
            for (int i = 0; i < t.rank(); i++) {
                last += (t.shape().dim(i) - 1) * t.stride(i);
            }
            return (last + 1) * t.dtype().bytes();
        }

        private Tensor host() {
            return Tensor.of(DType.U8, io.kinema.weights.Shape.of(to - from), MemorySegment.ofAddress(from).reinterpret(to - from), Device.CPU);
        }

        void upload(Backend device, Workspace memory) {
            // The same alignment as on the host, so that vector paths are taken alike.
            long skip = from % 64;
            onDevice = memory.allocate(DType.U8, to - from + skip).slice(0, skip, to - from + skip);
            device.copy(host(), onDevice);
        }

        void download(Backend device) {
            device.copy(onDevice, host());
            device.finish();
        }

        boolean holds(Tensor t) {
            return t.elements() > 0 && t.data().address() >= from && t.data().address() < to;
        }

        Tensor mirror(Tensor t) {
            return t.at(onDevice.data().asSlice(t.data().address() - from), onDevice.device());
        }
    }
}
