package io.kinema.compute.cpu;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.lang.annotation.ElementType;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.reflect.RecordComponent;
import java.util.Arrays;
import java.util.List;

/**
 * The single-precision matrix product of OpenBLAS, called on off-heap memory. The library stays loaded for the life of the
 * process. It runs on the calling thread only: this backend splits work itself, by shape.
 */
final class OpenBlas {
    private static final int ROW_MAJOR = 101;
    private static final int NO_TRANSPOSE = 111;
    private static final int TRANSPOSE = 112;
    private static final int LONGEST_TEXT = 4096;

    private OpenBlas() {
    }

    /** The symbol behind a handle and its C signature. */
    @Retention(RetentionPolicy.RUNTIME)
    @Target(ElementType.RECORD_COMPONENT)
    private @interface NativeSymbol {
        String name();

        Class<?> returns() default void.class;

        Class<?>[] arguments() default {};
    }

    /** One handle per function used. */
    private record Symbols(
            @NativeSymbol(name = "cblas_sgemm", arguments = {int.class, int.class, int.class, int.class, int.class, int.class,
                    float.class, MemorySegment.class, int.class, MemorySegment.class, int.class, float.class, MemorySegment.class, int.class})
            MethodHandle sgemm,
            @NativeSymbol(name = "openblas_set_num_threads", arguments = int.class) MethodHandle setThreads,
            @NativeSymbol(name = "openblas_get_config", returns = MemorySegment.class) MethodHandle config,
            @NativeSymbol(name = "openblas_get_corename", returns = MemorySegment.class) MethodHandle coreName) {
    }

    /** The library as loaded: where from, its handles, and what it says of itself. */
    private record Loaded(String path, Symbols symbols, String config, String coreName) {
    }

    /** Loads on first use; a failure is thrown by {@link #load()} and would be thrown again by every later use. */
    private static final class Holder {
        static final Loaded LOADED = open();
    }

    /** Loads the library now, so that a missing one is found when a backend opens. @throws IllegalStateException saying what to do */
    static void load() {
        try {
            Holder.LOADED.path();
        } catch (ExceptionInInitializerError e) {
            throw new IllegalStateException(e.getCause().getMessage(), e.getCause());
        } catch (NoClassDefFoundError e) {
            throw new IllegalStateException("OpenBLAS could not be loaded earlier in this process: " + e.getMessage(), e);
        }
    }

    static String path() {
        return Holder.LOADED.path();
    }

    static String config() {
        return Holder.LOADED.config();
    }

    static String coreName() {
        return Holder.LOADED.coreName();
    }

    /**
     * {@code c = alpha * a * op(b) + beta * c}, all row-major.
     *
     * @param transposeB b is [n, k] rather than [k, n]
     * @param a          [m, k] with rows {@code lda} floats apart; b and c likewise
     */
    static void sgemm(boolean transposeB, int m, int n, int k, float alpha, MemorySegment a, int lda, MemorySegment b, int ldb,
                      float beta, MemorySegment c, int ldc) {
        try {
            Holder.LOADED.symbols().sgemm().invokeExact(ROW_MAJOR, NO_TRANSPOSE, transposeB ? TRANSPOSE : NO_TRANSPOSE,
                    m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
        } catch (Throwable t) {
            throw failed(t);
        }
    }

    private static Loaded open() {
        // OpenBLAS starts a thread per core when it is loaded unless told not to.
        setEnvironment("OPENBLAS_NUM_THREADS", "1");
        OpenBlasFiles.Library library = OpenBlasFiles.find();
        SymbolLookup lookup = library.open();
        Symbols symbols = bind(lookup, library.toString());
        try {
            symbols.setThreads().invokeExact(1);
            return new Loaded(library.toString(), symbols, text((MemorySegment) symbols.config().invokeExact()),
                    text((MemorySegment) symbols.coreName().invokeExact()));
        } catch (Throwable t) {
            throw failed(t);
        }
    }

    private static void setEnvironment(String name, String value) {
        Linker linker = Linker.nativeLinker();
        linker.defaultLookup().find("setenv").ifPresent(address -> {
            MethodHandle setenv = linker.downcallHandle(address, FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.ADDRESS, ValueLayout.JAVA_INT));
            try (Arena arena = Arena.ofConfined()) {
                int result = (int) setenv.invokeExact(arena.allocateFrom(name), arena.allocateFrom(value), 1);
                if (result != 0) {
                    throw new IllegalStateException("setenv(" + name + ") failed: " + result);
                }
            } catch (Throwable t) {
                throw failed(t);
            }
        });
    }

    /** Fills the record from its annotations. */
    private static Symbols bind(SymbolLookup lookup, String library) {
        RecordComponent[] components = Symbols.class.getRecordComponents();
        Object[] handles = Arrays.stream(components).map(c -> handle(lookup, c.getAnnotation(NativeSymbol.class), library)).toArray();
        try {
            Class<?>[] types = Arrays.stream(components).map(RecordComponent::getType).toArray(Class<?>[]::new);
            return Symbols.class.getDeclaredConstructor(types).newInstance(handles);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("binding " + library, e);
        }
    }

    private static MethodHandle handle(SymbolLookup lookup, NativeSymbol symbol, String library) {
        MemorySegment address = lookup.find(symbol.name()).orElseThrow(() -> new IllegalStateException(
                library + " has no symbol " + symbol.name() + "; point KINEMA_OPENBLAS to an OpenBLAS built with CBLAS"));
        MemoryLayout[] arguments = Arrays.stream(symbol.arguments()).map(OpenBlas::layout).toArray(MemoryLayout[]::new);
        FunctionDescriptor type = symbol.returns() == void.class ? FunctionDescriptor.ofVoid(arguments)
                : FunctionDescriptor.of(layout(symbol.returns()), arguments);
        return Linker.nativeLinker().downcallHandle(address, type);
    }

    private static MemoryLayout layout(Class<?> type) {
        for (ValueLayout known : List.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_FLOAT, ValueLayout.ADDRESS)) {
            if (known.carrier() == type) {
                return known;
            }
        }
        throw new IllegalStateException("no C type for " + type);
    }

    private static String text(MemorySegment pointer) {
        return pointer.reinterpret(LONGEST_TEXT).getString(0).strip();
    }

    private static RuntimeException failed(Throwable t) {
        return switch (t) {
            case RuntimeException e -> e;
            case Error e -> throw e;
            default -> new IllegalStateException("a call into OpenBLAS failed", t);
        };
    }
}
