package io.kinema.cuda.driver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kinema.cuda.ffi.Bindings;
import io.kinema.cuda.ffi.CudaException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Status codes are named by the driver itself; here two functions play the driver. */
class DriverErrorsTest {
    private static final Arena ARENA = Arena.global();
    private static final MemorySegment NAME = ARENA.allocateFrom("CUDA_ERROR_LAUNCH_TIMEOUT");
    private static final MemorySegment TEXT = ARENA.allocateFrom("the launch timed out");

    static int name(int code, MemorySegment out) {
        out.reinterpret(8).set(ValueLayout.ADDRESS, 0, NAME);
        return 0;
    }

    static int text(int code, MemorySegment out) {
        out.reinterpret(8).set(ValueLayout.ADDRESS, 0, TEXT);
        return 0;
    }

    @Test
    void namesCodeAndFunctionInTheDriversWords() throws ReflectiveOperationException {
        Map<String, MemorySegment> stubs = Map.of("cuGetErrorName", stub("name"), "cuGetErrorString", stub("text"));
        DriverErrors errors = errors(name -> Optional.ofNullable(stubs.get(name)));

        assertThatThrownBy(() -> errors.check("cuLaunchKernel", () -> 702)).isInstanceOf(CudaException.class)
                .hasMessage("cuLaunchKernel failed: CUDA_ERROR_LAUNCH_TIMEOUT (702), the launch timed out");
    }

    @Test
    void advisesWhereUsersMeetAnErrorAndNeedsNoNamesForIt() {
        CudaException full = errors(_ -> Optional.empty()).of("cuMemAlloc", DriverErrors.OUT_OF_MEMORY);

        assertThat(full).hasMessageStartingWith("cuMemAlloc failed: CUDA error 2 (2), the GPU's memory is full");
        assertThat(full.code()).isEqualTo(DriverErrors.OUT_OF_MEMORY);
    }

    private static DriverErrors errors(SymbolLookup lookup) {
        return new DriverErrors(Bindings.bind(DriverSymbols.class, lookup, "CUDA driver"));
    }

    private static MemorySegment stub(String method) throws ReflectiveOperationException {
        MethodHandle handle = MethodHandles.lookup().findStatic(DriverErrorsTest.class, method, MethodType.methodType(int.class, int.class, MemorySegment.class));
        return Linker.nativeLinker().upcallStub(handle, FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.ADDRESS), ARENA);
    }
}
