package io.kinema.measure.step;

import io.kinema.compute.Backend;
import io.kinema.compute.Operand;
import io.kinema.compute.Tensor;
import io.kinema.compute.TimeMark;
import io.kinema.compute.Workspace;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Owns the time marks around every operation that a backend computed while it was watched, until it is closed; closing twice
 * is harmless. Marks cost a few microseconds each on a device and make nothing wait.
 */
public final class OperationTimes implements AutoCloseable {
    private record Timed(String label, TimeMark begin, TimeMark end) {
    }

    private final List<Timed> timed = new ArrayList<>();

    /** The same backend, watched. It stays its owner's: closing the result closes nothing. */
    public Backend watch(Backend backend) {
        return (Backend) Proxy.newProxyInstance(OperationTimes.class.getClassLoader(), new Class<?>[] {Backend.class},
                (_, method, arguments) -> method.getName().equals("close") ? null : call(backend, method, arguments));
    }

    private Object call(Backend backend, Method method, Object[] arguments) throws Throwable {
        try {
            if (arguments == null || !computes(arguments)) {
                return method.invoke(backend, arguments);
            }
            TimeMark begin = backend.mark();
            Object result = method.invoke(backend, arguments);
            timed.add(new Timed(label(method, arguments), begin, backend.mark()));
            return result;
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    private static boolean computes(Object[] arguments) {
        return arguments[0] instanceof Tensor || arguments[0] instanceof Operand;
    }

    /** The operation with the shape of its last tensor, which is what it writes. */
    private static String label(Method method, Object[] arguments) {
        String shape = "";
        for (Object argument : arguments) {
            if (argument instanceof Tensor t) {
                shape = " " + t.dtype() + t.shape();
            } else if (argument instanceof Operand o && !(arguments[arguments.length - 1] instanceof Workspace)) {
                shape = " " + o.values().dtype() + o.values().shape();
            }
        }
        String input = method.getName().equals("linear") && arguments[0] instanceof Operand o ? " " + o.values().dtype() + o.values().shape() + " to" : "";
        return method.getName() + input + shape;
    }

    /**
     * One kind of operation.
     *
     * @param calls   how often it was computed
     * @param seconds on the device, all calls together
     */
    public record Line(String operation, int calls, double seconds) {
    }

    /** All kinds of operations, longest first; call it after {@link Backend#finish()}. */
    public List<Line> table() {
        Map<String, Line> lines = new TreeMap<>();
        for (Timed t : timed) {
            Line one = new Line(t.label(), 1, t.end().secondsSince(t.begin()));
            lines.merge(t.label(), one, (a, b) -> new Line(a.operation(), a.calls() + b.calls(), a.seconds() + b.seconds()));
        }
        return lines.values().stream().sorted((a, b) -> Double.compare(b.seconds(), a.seconds())).toList();
    }

    @Override
    public void close() {
        timed.forEach(t -> {
            t.begin().close();
            t.end().close();
        });
        timed.clear();
    }
}
