package io.kinema.compute.testing;

import io.kinema.compute.Backend;
import io.kinema.compute.Device;
import io.kinema.compute.Operand;
import io.kinema.compute.Tensor;
import io.kinema.compute.Workspace;
import io.kinema.weights.DType;
import java.lang.foreign.MemorySegment;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * Lets cases that are written for host tensors run on a device: before a call every stretch of host memory that its arguments
 * view is copied to the device, views with their strides and overlaps as they are, and afterwards copied back.
 */
public final class MirroredBackend {
    private MirroredBackend() {
    }

    /** @param device stays the caller's */
    public static Backend of(Backend device) {
        return (Backend) Proxy.newProxyInstance(MirroredBackend.class.getClassLoader(), new Class<?>[] {Backend.class},
                (_, method, arguments) -> call(device, method, arguments == null ? new Object[0] : arguments));
    }

    private static Object call(Backend device, Method method, Object[] arguments) throws Throwable {
        if (method.getName().equals("prepare") && ((Tensor) arguments[0]).dtype() == arguments[1]) {
            return Operand.of((Tensor) arguments[0]); // the rows themselves, which are not the device's
        }
        List<Tensor> views = new ArrayList<>();
        Arrays.stream(arguments).forEach(a -> hostTensors(a, views));
        try (Workspace memory = views.isEmpty() ? null : device.workspace("mirror")) {
            List<Stretch> stretches = Stretch.covering(views);
            stretches.forEach(s -> s.upload(device, memory));
            Object[] placed = Arrays.stream(arguments).map(a -> mapped(a, stretches)).toArray();
            Object result = method.invoke(device, placed);
            stretches.forEach(s -> s.download(device));
            return result;
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
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
