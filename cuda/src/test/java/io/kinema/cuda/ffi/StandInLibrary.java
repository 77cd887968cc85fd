package io.kinema.cuda.ffi;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Method;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Lets an object play a native library: its methods are the functions of the same names.
 *
 * @param player whose methods take int, long and {@link MemorySegment}, and return int or {@link MemorySegment}
 * @param access that sees them
 */
public record StandInLibrary(Object player, MethodHandles.Lookup access) {
    /** The functions. They stay for the life of the process, as a library does. */
    public SymbolLookup lookup() {
        return symbol -> Stream.of(player.getClass().getDeclaredMethods()).filter(m -> m.getName().equals(symbol)).findFirst().map(this::stub);
    }

    /** What a finder would have found. */
    public LibraryFinder.Found found(CudaLibrary library) {
        return new LibraryFinder.Found(library, Optional.of(lookup()), "stand-in", "for a test", java.util.List.of());
    }

    private MemorySegment stub(Method method) {
        try {
            MethodHandle handle = access.unreflect(method).bindTo(player);
            MemoryLayout[] takes = Stream.of(method.getParameterTypes()).map(StandInLibrary::layout).toArray(MemoryLayout[]::new);
            return Linker.nativeLinker().upcallStub(handle, FunctionDescriptor.of(layout(method.getReturnType()), takes), Arena.global());
        } catch (IllegalAccessException e) {
            throw new IllegalStateException(e);
        }
    }

    private static MemoryLayout layout(Class<?> type) {
        return type == int.class ? ValueLayout.JAVA_INT : type == long.class ? ValueLayout.JAVA_LONG : ValueLayout.ADDRESS;
    }
}
