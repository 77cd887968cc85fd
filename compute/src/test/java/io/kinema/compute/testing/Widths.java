package io.kinema.compute.testing;

import io.kinema.compute.Backend;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;

/**
 * Opens the cpu backend with vectors of a given width. The width is a constant of the backend's classes, so each width loads
 * them anew in a class loader of its own; the interfaces stay those of the test.
 */
public final class Widths {
    private static final String PACKAGE = "io.kinema.compute.cpu.";
    private static final String PROPERTY = "kinema.vectorBits";

    private Widths() {
    }

    /** @param bits vector width, 0 for the machine's own */
    public static Backend open(int bits, int threads) {
        System.setProperty(PROPERTY, Integer.toString(bits));
        try {
            Class<?> type = new CpuLoader().loadClass(PACKAGE + "CpuBackend");
            Backend backend = (Backend) type.getMethod("open", int.class).invoke(null, threads);
            Object facts = type.getMethod("facts").invoke(backend);
            int actual = (int) facts.getClass().getMethod("vectorBits").invoke(facts);
            if (bits != 0 && actual != bits) {
                throw new AssertionError("asked for " + bits + " bits, got " + actual);
            }
            return backend;
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        } finally {
            System.clearProperty(PROPERTY);
        }
    }

    private static final class CpuLoader extends ClassLoader {
        CpuLoader() {
            super(Widths.class.getClassLoader());
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.startsWith(PACKAGE)) {
                return super.loadClass(name, resolve);
            }
            synchronized (getClassLoadingLock(name)) {
                Class<?> loaded = findLoadedClass(name);
                return loaded != null ? loaded : define(name);
            }
        }

        private Class<?> define(String name) throws ClassNotFoundException {
            try (InputStream in = getParent().getResourceAsStream(name.replace('.', '/') + ".class")) {
                if (in == null) {
                    throw new ClassNotFoundException(name);
                }
                byte[] bytes = in.readAllBytes();
                return defineClass(name, bytes, 0, bytes.length);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}
