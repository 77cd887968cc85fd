package io.kinema.cuda.driver;

import io.kinema.cuda.ffi.CudaException;
import io.kinema.cuda.ffi.NativeCall;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Owns a reference to one GPU's primary context until it is closed; closing twice is harmless. The context is current on
 * the thread that opened it, which is the rank's thread: {@link #makeCurrent} moves it to another.
 */
public final class GpuContext implements AutoCloseable {
    /** Page-locked memory is so for every GPU of the process. */
    private static final int PORTABLE = 1;

    private final CudaDriver driver;
    private final GpuFacts facts;
    private final MemorySegment handle;
    private volatile Thread owner;
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

    /** Makes the context current on the calling thread, when it is not already. */
    public void makeCurrent() {
        if (owner != Thread.currentThread()) {
            check("cuCtxSetCurrent", () -> (int) symbols().ctxSetCurrent().invokeExact(handle));
            owner = Thread.currentThread();
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

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            check("cuDevicePrimaryCtxRelease", () -> (int) symbols().primaryCtxRelease().invokeExact(facts.handle()));
        }
    }
}
