package io.kinema.cuda.ffi;

import java.lang.foreign.MemorySegment;

/** Runs downcalls, whose handles declare Throwable, as ordinary code. */
public final class NativeCall {
    private NativeCall() {
    }

    /** A downcall that returns a status code. */
    @FunctionalInterface
    public interface Status {
        int run() throws Throwable;
    }

    /** A downcall that returns a pointer. */
    @FunctionalInterface
    public interface Pointer {
        MemorySegment run() throws Throwable;
    }

    /** The status code. @throws LinkageError when the library lacks the function */
    public static int status(Status call) {
        try {
            return call.run();
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new IllegalStateException("native call failed: " + e, e);
        }
    }

    /** A C string that a library owns, or {@code "unknown"} for a null pointer. */
    public static String text(Pointer call) {
        try {
            MemorySegment text = call.run();
            return text.address() == 0 ? "unknown" : text.reinterpret(Long.MAX_VALUE).getString(0);
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new IllegalStateException("native call failed: " + e, e);
        }
    }
}
