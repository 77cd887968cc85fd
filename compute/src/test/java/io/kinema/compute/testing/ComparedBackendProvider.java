package io.kinema.compute.testing;

import io.kinema.compute.Backend;
import io.kinema.compute.BackendOptions;
import io.kinema.compute.BackendProvider;
import io.kinema.compute.cpu.CpuBackend;
import io.kinema.compute.reference.ReferenceBackend;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.ServiceLoader;

/**
 * Offers {@code compared:DEVICE}: the CPU backend, whose every operation is computed on the device as well and compared. With these
 * test classes on the class path any command runs on it, whole requests and golden cases; the table is printed when it is closed.
 */
public final class ComparedBackendProvider implements BackendProvider {
    private static final String PREFIX = "compared:";
    private static final double LIMIT = 1e-3;

    @Override
    public String devices() {
        return PREFIX + "DEVICE";
    }

    @Override
    public boolean serves(String device) {
        return device.startsWith(PREFIX);
    }

    /** The device itself judges its options when it is opened. */
    @Override
    public void check(String device, BackendOptions options) {
        // Nothing of its own to check.
    }

    @Override
    public Backend open(String device, BackendOptions options) {
        Backend other = other(device.substring(PREFIX.length()), options);
        CpuBackend host = CpuBackend.open(Runtime.getRuntime().availableProcessors());
        OperatorDifferences differences = new OperatorDifferences();
        Backend compared = ComparedBackend.of(host, other, differences);
        return (Backend) Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] {Backend.class}, (_, method, arguments) -> {
            try {
                if (method.getName().equals("close")) {
                    host.close();
                    other.close();
                    System.out.println(differences.table(LIMIT));
                    return null;
                }
                return method.invoke(compared, arguments);
            } catch (InvocationTargetException e) {
                throw e.getCause();
            }
        });
    }

    @Override
    public List<Finding> findings() {
        return List.of();
    }

    private static Backend other(String device, BackendOptions options) {
        return device.equals("reference") ? new ReferenceBackend() : ServiceLoader.load(BackendProvider.class).stream().map(ServiceLoader.Provider::get)
                .filter(p -> p.serves(device)).findFirst().orElseThrow(() -> new IllegalArgumentException("no provider for " + device)).open(device, options);
    }
}
