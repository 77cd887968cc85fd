package io.kinema.compute.testing;

import io.kinema.compute.Backend;
import io.kinema.compute.Device;
import io.kinema.compute.HostWorkspace;
import io.kinema.compute.Operand;
import io.kinema.compute.Tensor;
import io.kinema.compute.Workspace;
import io.kinema.weights.DType;
import io.kinema.weights.StoredTensor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * A backend on the host whose every operation is computed on a device too, from the same inputs, and compared there. What goes on
 * is the host's result, so a difference of one operation does not reach the next: each number is that operator's own.
 */
final class ComparedBackend {
    private static final Set<String> HOST_ALONE = Set.of("download");
    private static final Set<String> FIRST_IS_OUTPUT = Set.of("gatedResidualAdd", "fill");

    private final Backend host;
    private final Backend device;
    private final OperatorDifferences differences;
    private final TensorNames names = new TensorNames();
    private String lastNamed = "the start";

    private ComparedBackend(Backend host, Backend device, OperatorDifferences differences) {
        this.host = host;
        this.device = device;
        this.differences = differences;
    }

    /** @param host its results are kept; it and the device stay the caller's, and closing the result closes nothing */
    static Backend of(Backend host, Backend device, OperatorDifferences differences) {
        ComparedBackend compared = new ComparedBackend(host, device, differences);
        return (Backend) Proxy.newProxyInstance(ComparedBackend.class.getClassLoader(), new Class<?>[] {Backend.class},
                (_, method, arguments) -> compared.call(method, arguments == null ? new Object[0] : arguments));
    }

    private Object call(Method method, Object[] arguments) throws Throwable {
        try {
            return switch (method.getName()) {
                case "close" -> null;
                case "record" -> Optional.empty();
                case "load" -> load((StoredTensor) arguments[0], (Workspace) arguments[1]);
                default -> computes(method, arguments) ? compute(method, arguments) : method.invoke(host, arguments);
            };
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    private Tensor load(StoredTensor stored, Workspace owner) {
        Tensor tensor = host.load(stored, owner);
        names.name(tensor, stored.name());
        return tensor;
    }

    private static boolean computes(Method method, Object[] arguments) {
        return !HOST_ALONE.contains(method.getName()) && arguments.length > 0 && (arguments[0] instanceof Tensor || arguments[0] instanceof Operand);
    }

    private Object compute(Method method, Object[] arguments) throws ReflectiveOperationException {
        String label = label(arguments);
        try (Mirror mirror = Mirror.of(device, arguments)) {
            Object expected = method.invoke(host, arguments);
            Object[] placed = mirror.placed();
            if (placed[placed.length - 1] instanceof Workspace) {
                placed[placed.length - 1] = mirror.memory();
            }
            Object got = method.invoke(device, placed);
            boolean operand = expected instanceof Operand;
            int output = FIRST_IS_OUTPUT.contains(method.getName()) ? 0 : lastTensor(arguments);
            Operand ours = operand ? (Operand) expected : Operand.of((Tensor) arguments[output]);
            Operand theirs = operand ? (Operand) got : Operand.of((Tensor) placed[output]);
            compare(method.getName(), arguments, ours, theirs, label);
            rename(method.getName(), arguments, ours.values());
            return expected;
        }
    }

    /** Operations write their last tensor, whatever memory or settings come after it. */
    private static int lastTensor(Object[] arguments) {
        return IntStream.range(0, arguments.length).filter(i -> arguments[i] instanceof Tensor).max().orElse(0);
    }

    private void compare(String operation, Object[] arguments, Operand expected, Operand got, String label) {
        Tensor out = expected.values();
        if (!out.dtype().floating() || out.elements() == 0) {
            return;
        }
        String types = inputType(arguments) + " to " + out.dtype();
        differences.add(operation + " " + types, Values.relativeL2(values(device, got), values(host, expected)), label + " -> " + out.dtype() + out.shape());
    }

    /** Values with their row scales. */
    private static float[] values(Backend backend, Operand rows) {
        float[] values = floats(backend, rows.values());
        rows.rowScale().map(s -> floats(backend, s)).ifPresent(scales -> {
            int width = values.length / Math.max(1, scales.length);
            for (int i = 0; i < values.length; i++) {
                values[i] *= scales[i / width];
            }
        });
        return values;
    }

    private static float[] floats(Backend backend, Tensor tensor) {
        try (HostWorkspace memory = HostWorkspace.create("compared")) {
            Tensor copy = memory.allocate(DType.F32, tensor.shape().toArray());
            if (tensor.device().kind() == Device.Kind.CPU || tensor.dtype() == DType.F32) {
                backend.copy(tensor, copy);
            } else {
                Tensor narrow = memory.allocate(tensor.dtype(), tensor.shape().toArray());
                backend.copy(tensor, narrow);
                backend.finish();
                return narrow.toFloats();
            }
            backend.finish();
            return copy.toFloats();
        }
    }

    private static DType inputType(Object[] arguments) {
        return arguments[0] instanceof Operand o ? o.values().dtype() : ((Tensor) arguments[0]).dtype();
    }

    /** The named tensor that the operation reads, or the one that was read last, with the shape of what it works on. */
    private String label(Object[] arguments) {
        List<Tensor> tensors = new ArrayList<>();
        Arrays.stream(arguments).forEach(a -> collect(a, tensors));
        Optional<String> named = tensors.stream().map(names::of).flatMap(Optional::stream).findFirst();
        named.ifPresent(name -> lastNamed = name);
        Tensor first = tensors.getFirst();
        return named.orElse("after " + lastNamed) + " " + first.dtype() + first.shape();
    }

    private static void collect(Object argument, List<Tensor> into) {
        switch (argument) {
            case Tensor t -> into.add(t);
            case Optional<?> o -> o.ifPresent(v -> collect(v, into));
            case List<?> l -> l.forEach(v -> collect(v, into));
            case Record r -> {
                for (RecordComponent c : r.getClass().getRecordComponents()) {
                    collect(component(r, c), into);
                }
            }
            default -> { }
        }
    }

    private static Object component(Record record, RecordComponent c) {
        try {
            c.getAccessor().setAccessible(true);
            return c.getAccessor().invoke(record);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    /** A whole copy keeps the name of its source; what an operation writes has none. */
    private void rename(String operation, Object[] arguments, Tensor out) {
        Optional<String> source = operation.equals("copy") ? names.of((Tensor) arguments[0]) : Optional.empty();
        source.ifPresentOrElse(name -> names.name(out, name), () -> names.forget(out));
    }
}
