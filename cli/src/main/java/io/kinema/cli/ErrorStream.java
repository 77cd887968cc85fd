package io.kinema.cli;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/**
 * Gives the process its real standard error back. The launcher starts the JVM with standard error leading to a filter
 * that drops the JVM's notice about its incubating module, and the real one kept as descriptor 3; it says so with
 * {@code -Dkinema.stderr=3}. From here on native libraries and {@link System#err} write straight to the real one.
 */
final class ErrorStream {
    private static final int STANDARD_ERROR = 2;

    private ErrorStream() {}

    /** Does nothing when the program was started without the launcher. */
    static void takeBack() {
        Integer kept = Integer.getInteger("kinema.stderr");
        if (kept == null) {
            return;
        }
        try {
            Linker linker = Linker.nativeLinker();
            MethodHandle dup2 = linker.downcallHandle(linker.defaultLookup().findOrThrow("dup2"),
                    FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));
            MethodHandle close = linker.downcallHandle(linker.defaultLookup().findOrThrow("close"),
                    FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));
            int copied = (int) dup2.invokeExact((int) kept, STANDARD_ERROR);
            if (copied == STANDARD_ERROR) {
                int closed = (int) close.invokeExact((int) kept);
                assert closed == 0;
            }
        } catch (Throwable unavailable) {
            // The filter stays in place, which loses nothing but a terminal's immediacy.
            System.err.flush();
        }
    }
}
