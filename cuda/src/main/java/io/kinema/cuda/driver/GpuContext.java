package io.kinema.cuda.driver;

import io.kinema.cuda.ffi.CudaException;
import io.kinema.cuda.ffi.NativeCall;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Owns a reference to one GPU's primary context until it is closed; closing twice is harmless. The context is current on
 * the thread that opened it; {@link #makeCurrent} makes it so on another.
 */
public final class GpuContext implements AutoCloseable {
    /** Page-locked memory is so for every GPU of the process. */
    private static final int PORTABLE = 1;
    private static final ThreadLocal<GpuContext> CURRENT = new ThreadLocal<>();

    private final CudaDriver driver;
    private final GpuFacts facts;
    private final MemorySegment handle;
    private boolean closed;

    private GpuContext(CudaDriver driver, GpuFacts facts, MemorySegment handle) {
        this.driver = driver;
        this.facts = facts;
        this.handle = handle;
    }

    /** Retains the context of GPU {@code index} and makes it current here. */
    public static GpuContext open(CudaDriver driver, int index) {
        GpuFacts facts = driver.facts(index);
        MemorySegment handle = driver.pointer("cuDevicePrimaryCtxRetain",
                out -> (int) driver.symbols().primaryCtxRetain().invokeExact(out, facts.handle()));
        GpuContext context = new GpuContext(driver, facts, handle);
        context.makeCurrent();
        return context;
    }

    public GpuFacts facts() {
        return facts;
    }

    public CudaDriver driver() {
        return driver;
    }

    /** Makes the context current on the calling thread, when it is not already: a thread may use several GPUs in turn. */
    public void makeCurrent() {
        if (CURRENT.get() != this) {
            check("cuCtxSetCurrent", () -> (int) symbols().ctxSetCurrent().invokeExact(handle));
            CURRENT.set(this);
        }
    }

    DriverSymbols symbols() {
        return driver.symbols();
    }

    void check(String function, NativeCall.Status call) {
        driver.check(function, call);
    }

    MemorySegment pointer(String function, CudaDriver.Query query) {
        return driver.pointer(function, query);
    }

    /** Device memory, or 0 when the device has not that much left. */
    public long allocate(long bytes) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(ValueLayout.JAVA_LONG);
            check("cuMemAlloc", () -> (int) symbols().memAlloc().invokeExact(out, bytes));
            return out.get(ValueLayout.JAVA_LONG, 0);
        } catch (CudaException e) {
            if (e.code() == DriverErrors.OUT_OF_MEMORY) {
                return 0;
            }
            throw e;
        }
    }

    /**
     * Page-locked host memory that {@code owner} frees; it must be closed before this context is.
     *
     * @throws CudaException when the system locks no more
     */
    public MemorySegment pageLocked(long bytes, Arena owner) {
        MemorySegment memory = pointer("cuMemHostAlloc", out -> (int) symbols().memHostAlloc().invokeExact(out, bytes, PORTABLE));
        return memory.reinterpret(bytes, owner, freed -> {
            makeCurrent();
            check("cuMemFreeHost", () -> (int) symbols().memFreeHost().invokeExact(freed));
        });
    }

    /** Gives device memory back; waits for work that may use it. */
    public void free(long pointer) {
        check("cuMemFree", () -> (int) symbols().memFree().invokeExact(pointer));
    }

    /** Bytes of the device that nobody has allocated, in any process. */
    public long freeBytes() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment free = arena.allocate(ValueLayout.JAVA_LONG);
            MemorySegment total = arena.allocate(ValueLayout.JAVA_LONG);
            check("cuMemGetInfo", () -> (int) symbols().memGetInfo().invokeExact(free, total));
            return free.get(ValueLayout.JAVA_LONG, 0);
        }
    }

    /** True when kernels of this GPU can read and write {@code other}'s memory, by NVLink or PCI Express. */
    public boolean reaches(GpuContext other) {
        return driver.number("cuDeviceCanAccessPeer",
                out -> (int) symbols().deviceCanAccessPeer().invokeExact(out, facts.handle(), other.facts.handle())) != 0;
    }

    /** Lets kernels of this GPU, whose context is current here, use {@code other}'s memory. Harmless the second time. */
    public void openTo(GpuContext other) {
        try {
            check("cuCtxEnablePeerAccess", () -> (int) symbols().ctxEnablePeerAccess().invokeExact(other.handle, 0));
        } catch (CudaException e) {
            if (e.code() != DriverErrors.PEER_ACCESS_ALREADY_ENABLED) {
                throw e;
            }
        }
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            check("cuDevicePrimaryCtxRelease", () -> (int) symbols().primaryCtxRelease().invokeExact(facts.handle()));
        }
    }
}
