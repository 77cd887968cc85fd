package io.kinema.cuda.ffi;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Constructor;
import java.lang.reflect.RecordComponent;
import java.util.Arrays;

/**
 * Fills a record of {@link Symbol} method handles from a library. A function that the library does not have becomes a
 * handle that fails with a {@link LinkageError} naming it and the library, so only its users notice.
 */
public final class Bindings {
    private static final Linker LINKER = Linker.nativeLinker();

    private Bindings() {
    }

    /**
     * @param type    a record whose components are all method handles with a {@link Symbol}
     * @param lookup  the library's symbols
     * @param library named in messages
     * @throws IllegalArgumentException when a component is not annotated
     */
    public static <T extends Record> T bind(Class<T> type, SymbolLookup lookup, String library) {
        RecordComponent[] components = type.getRecordComponents();
        Object[] handles = Arrays.stream(components).map(c -> handle(type, c, lookup, library)).toArray();
        try {
            Constructor<T> constructor = type.getDeclaredConstructor(Arrays.stream(components).map(RecordComponent::getType).toArray(Class<?>[]::new));
            constructor.setAccessible(true);
            return constructor.newInstance(handles);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("bindings " + type.getName() + " cannot be made: " + e.getMessage(), e);
        }
    }

    private static MethodHandle handle(Class<?> type, RecordComponent component, SymbolLookup lookup, String library) {
        Symbol symbol = component.getAnnotation(Symbol.class);
        if (symbol == null || component.getType() != MethodHandle.class) {
            throw new IllegalArgumentException("bindings " + type.getName() + ": component " + component.getName()
                    + " is not a MethodHandle with @Symbol");
        }
        FunctionDescriptor descriptor = descriptor(symbol);
        return lookup.find(symbol.value()).map(address -> LINKER.downcallHandle(address, descriptor))
                .orElseGet(() -> absent(descriptor, new LinkageError(library + " has no function " + symbol.value()
                        + "; a newer version of the library does, see kinema doctor")));
    }

    private static MethodHandle absent(FunctionDescriptor descriptor, LinkageError error) {
        Class<?> result = descriptor.toMethodType().returnType();
        MethodHandle thrower = MethodHandles.throwException(result, LinkageError.class).bindTo(error);
        return MethodHandles.dropArguments(thrower, 0, descriptor.toMethodType().parameterArray());
    }

    private static FunctionDescriptor descriptor(Symbol symbol) {
        MemoryLayout[] takes = Arrays.stream(symbol.takes()).map(Bindings::layout).toArray(MemoryLayout[]::new);
        return symbol.returns() == void.class ? FunctionDescriptor.ofVoid(takes) : FunctionDescriptor.of(layout(symbol.returns()), takes);
    }

    private static MemoryLayout layout(Class<?> carrier) {
        if (carrier == int.class) {
            return ValueLayout.JAVA_INT;
        }
        if (carrier == long.class) {
            return ValueLayout.JAVA_LONG;
        }
        if (carrier == float.class) {
            return ValueLayout.JAVA_FLOAT;
        }
        if (carrier == double.class) {
            return ValueLayout.JAVA_DOUBLE;
        }
        if (carrier == MemorySegment.class) {
            return ValueLayout.ADDRESS;
        }
        throw new IllegalArgumentException("symbol type " + carrier + ": expected int, long, float, double or MemorySegment");
    }
}
