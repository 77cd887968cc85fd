package io.kinema.cuda.driver;

import io.kinema.cuda.ffi.Bindings;
import io.kinema.cuda.ffi.CudaException;
import io.kinema.cuda.ffi.CudaLibrary;
import io.kinema.cuda.ffi.CudaUnavailableException;
import io.kinema.cuda.ffi.LibraryFinder;
import io.kinema.cuda.ffi.NativeCall;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;

/** The loaded and initialised driver. It stays loaded for the life of the process. */
public final class CudaDriver {
    private final DriverSymbols symbols;
    private final DriverErrors errors;

    private CudaDriver(SymbolLookup lookup) {
        this.symbols = Bindings.bind(DriverSymbols.class, lookup, CudaLibrary.DRIVER.title());
        this.errors = new DriverErrors(symbols);
    }

    /**
     * Loads and initialises the driver.
     *
     * @throws CudaUnavailableException when there is no driver or it sees no GPU; the message says which
     */
    public static CudaDriver load(LibraryFinder finder) {
        try {
            return over(finder.find(CudaLibrary.DRIVER).require());
        } catch (CudaUnavailableException e) {
            throw new CudaUnavailableException(e.getMessage() + ", or run with --device cpu");
        }
    }

    /** {@link #load} with the driver's functions at hand. */
    static CudaDriver over(SymbolLookup lookup) {
        CudaDriver driver = new CudaDriver(lookup);
        try {
            driver.check("cuInit", () -> (int) driver.symbols.init().invokeExact(0));
        } catch (CudaException e) {
            throw new CudaUnavailableException("no usable GPU: " + e.getMessage());
        }
        return driver;
    }

    DriverSymbols symbols() {
        return symbols;
    }

    void check(String function, NativeCall.Status call) {
        errors.check(function, call);
    }

    /** The CUDA version that the driver supports, such as {@code 13.0}. */
    public String version() {
        int version = number("cuDriverGetVersion", out -> (int) symbols.driverGetVersion().invokeExact(out));
        return version / 1000 + "." + version % 1000 / 10;
    }

    /** All GPUs that this process may use. */
    public List<GpuFacts> devices() {
        int count = number("cuDeviceGetCount", out -> (int) symbols.deviceGetCount().invokeExact(out));
        List<GpuFacts> all = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            all.add(facts(i));
        }
        return all;
    }

    /** Facts about GPU {@code index}. @throws CudaUnavailableException when there is no such GPU */
    public GpuFacts facts(int index) {
        int count = number("cuDeviceGetCount", out -> (int) symbols.deviceGetCount().invokeExact(out));
        if (index < 0 || index >= count) {
            throw new CudaUnavailableException("got GPU " + index + " of this machine, where this process sees " + (count == 0 ? "none" : count == 1 ? "cuda:0 alone"
                    : "cuda:0 to cuda:" + (count - 1)) + "; name one that it sees, or run with --device cpu");
        }
        int handle = number("cuDeviceGet", out -> (int) symbols.deviceGet().invokeExact(out, index));
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment name = arena.allocate(256);
            check("cuDeviceGetName", () -> (int) symbols.deviceGetName().invokeExact(name, 256, handle));
            MemorySegment bytes = arena.allocate(ValueLayout.JAVA_LONG);
            check("cuDeviceTotalMem", () -> (int) symbols.deviceTotalMem().invokeExact(bytes, handle));
            return new GpuFacts(index, handle, name.getString(0), attribute(handle, 75), attribute(handle, 76), attribute(handle, 16),
                    attribute(handle, 38), attribute(handle, 97), bytes.get(ValueLayout.JAVA_LONG, 0));
        }
    }

    private int attribute(int device, int attribute) {
        return number("cuDeviceGetAttribute", out -> (int) symbols.deviceGetAttribute().invokeExact(out, attribute, device));
    }

    /** A call that writes one int. */
    interface Query {
        int run(MemorySegment out) throws Throwable;
    }

    int number(String function, Query query) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(ValueLayout.JAVA_INT);
            check(function, () -> query.run(out));
            return out.get(ValueLayout.JAVA_INT, 0);
        }
    }

    /** A call that writes one pointer or handle. */
    MemorySegment pointer(String function, Query query) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(ValueLayout.ADDRESS);
            check(function, () -> query.run(out));
            return out.get(ValueLayout.ADDRESS, 0);
        }
    }
}
