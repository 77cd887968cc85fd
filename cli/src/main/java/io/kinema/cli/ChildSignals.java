package io.kinema.cli;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/**
 * Makes an engine process deaf to the signals that end its parent. Ctrl-C goes to every process of a terminal's foreground, and service
 * managers signal whole groups; but it is the parent that decides what becomes of the running job. The child ends when the pipe to
 * its parent does.
 */
final class ChildSignals {
    private static final int[] ENDING = {1, 2, 15};
    private static final long IGNORE = 1;

    private ChildSignals() {
    }

    /** Ignores SIGHUP, SIGINT and SIGTERM from here on. */
    static void ignore() {
        Linker linker = Linker.nativeLinker();
        MethodHandle signal = linker.downcallHandle(linker.defaultLookup().findOrThrow("signal"),
                FunctionDescriptor.of(ValueLayout.ADDRESS, ValueLayout.JAVA_INT, ValueLayout.ADDRESS));
        for (int number : ENDING) {
            try {
                MemorySegment before = (MemorySegment) signal.invokeExact(number, MemorySegment.ofAddress(IGNORE));
                assert before.address() != -1;
            } catch (Throwable impossible) {
                throw new IllegalStateException("signal " + number + " cannot be ignored", impossible);
            }
        }
    }
}
