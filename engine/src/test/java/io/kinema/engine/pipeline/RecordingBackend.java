package io.kinema.engine.pipeline;

import io.kinema.compute.Backend;
import io.kinema.compute.HostWorkspace;
import io.kinema.compute.Operand;
import io.kinema.compute.Tensor;
import io.kinema.compute.Workspace;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A backend on the host that can record: while it does, operations are kept and not run, as a device's graph keeps them, on the very
 * memory that they were given.
 */
final class RecordingBackend {
    private final Backend host;
    private final AtomicInteger recordings = new AtomicInteger();
    private final AtomicInteger replays = new AtomicInteger();
    private Optional<List<Runnable>> kept = Optional.empty();

    RecordingBackend(Backend host) {
        this.host = host;
    }

    Backend backend() {
        return (Backend) Proxy.newProxyInstance(RecordingBackend.class.getClassLoader(), new Class<?>[] {Backend.class},
                (_, method, arguments) -> call(method, arguments == null ? new Object[0] : arguments));
    }

    int recordings() {
        return recordings.get();
    }

    int replays() {
        return replays.get();
    }

    private Object call(Method method, Object[] arguments) throws ReflectiveOperationException {
        if (method.getName().equals("record")) {
            return Optional.of(record((Runnable) arguments[0]));
        }
        boolean computes = arguments.length > 0 && (arguments[0] instanceof Tensor || arguments[0] instanceof Operand);
        if (kept.isEmpty() || !computes) {
            return run(method, arguments);
        }
        return keep(method, arguments);
    }

    private Backend.Recording record(Runnable work) {
        List<Runnable> operations = new ArrayList<>();
        kept = Optional.of(operations);
        try {
            work.run();
        } finally {
            kept = Optional.empty();
        }
        recordings.incrementAndGet();
        return new Backend.Recording() {
            @Override
            public void replay() {
                replays.incrementAndGet();
                operations.forEach(Runnable::run);
            }

            @Override
            public void close() {
                operations.clear();
            }
        };
    }

    private Object keep(Method method, Object[] arguments) throws ReflectiveOperationException {
        if (!(arguments[arguments.length - 1] instanceof Workspace)) {
            kept.orElseThrow().add(() -> unchecked(method, arguments));
            return null;
        }
        // What makes its own result has to make it now; a replay writes the same memory again.
        Operand made = (Operand) run(method, arguments);
        kept.orElseThrow().add(() -> {
            try (HostWorkspace memory = HostWorkspace.create("replay")) {
                Object[] again = arguments.clone();
                again[again.length - 1] = memory;
                Operand result = (Operand) unchecked(method, again);
                if (result.values().data().address() != made.values().data().address()) {
                    host.copy(result.values(), made.values());
                }
                result.rowScale().ifPresent(scale -> host.copy(scale, made.rowScale().orElseThrow()));
            }
        });
        return made;
    }

    private Object unchecked(Method method, Object[] arguments) {
        try {
            return run(method, arguments);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    private Object run(Method method, Object[] arguments) throws ReflectiveOperationException {
        try {
            return method.invoke(host, arguments);
        } catch (InvocationTargetException e) {
            if (e.getCause() instanceof RuntimeException cause) {
                throw cause;
            }
            throw e;
        }
    }
}
