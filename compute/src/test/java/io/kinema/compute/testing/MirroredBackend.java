package io.kinema.compute.testing;

import io.kinema.compute.Backend;
import io.kinema.compute.Operand;
import io.kinema.compute.Tensor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;

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
        try (Mirror mirror = Mirror.of(device, arguments)) {
            Object result = method.invoke(device, mirror.placed());
            mirror.download();
            return result;
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }
}
