package io.kinema.cuda.driver;

import io.kinema.cuda.ffi.StandInLibrary;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandles;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Plays a driver with two GPUs whose memory is the host's: every operation runs when it is enqueued, copies copy, and kernels are methods by name. Waiting for an
 * event that was never marked is an error here, as it would be a race there.
 */
public final class StandInDriver {
    /** Multiprocessors of each GPU. */
    public static final int PROCESSORS = 20;

    private static final int ERROR_INVALID_VALUE = 1;
    private static final int ERROR_INVALID_HANDLE = 400;
    private static final int ERROR_LAUNCH_FAILED = 719;
    private static final int MOST_BLOCKS_ACROSS = 65535;
    private static final int ATTRIBUTE_PROCESSORS = 16;
    private static final int ATTRIBUTE_MAJOR = 75;
    private static final long EVERYTHING = Long.MAX_VALUE;

    private final StandInLibrary library = new StandInLibrary(this, MethodHandles.lookup());
    private final Map<String, Kernel> kernels;
    private final Map<Long, MemorySegment> memory = new ConcurrentHashMap<>();
    private final Map<Long, String> functions = new ConcurrentHashMap<>();
    private final Set<Long> marked = ConcurrentHashMap.newKeySet();
    private final Set<Long> opened = ConcurrentHashMap.newKeySet();
    private final Map<Long, List<Runnable>> graphs = new ConcurrentHashMap<>();
    private final boolean reach;
    private Optional<List<Runnable>> captured = Optional.empty();
    private final AtomicLong handles = new AtomicLong(0x1000);
    private final AtomicLong waits = new AtomicLong();

    /** What a kernel does. */
    @FunctionalInterface
    public interface Kernel {
        void run(Values arguments);
    }

    /** A launch's arguments and blocks, as the driver gets them. */
    public static final class Values {
        private final MemorySegment pointers;
        private final List<Integer> blocks;
        private int next;

        Values(MemorySegment pointers, List<Integer> blocks) {
            this.pointers = pointers.reinterpret(64 * ValueLayout.ADDRESS.byteSize());
            this.blocks = blocks;
        }

        /** How many blocks there are along x, y and z. */
        public List<Integer> blocks() {
            return blocks;
        }

        /** A description for the tensor copy engine. */
        public StandInTensorMap map() {
            return StandInTensorMap.decode(next(TensorMap.BYTES));
        }

        /** The next argument's memory. */
        public MemorySegment next(long bytes) {
            return pointers.getAtIndex(ValueLayout.ADDRESS, next++).reinterpret(bytes);
        }

        public int i32() {
            return next(4).get(ValueLayout.JAVA_INT, 0);
        }

        public long i64() {
            return next(8).get(ValueLayout.JAVA_LONG, 0);
        }

        public float f32() {
            return next(4).get(ValueLayout.JAVA_FLOAT, 0);
        }

        /** Device memory that an argument points to. */
        public MemorySegment memory() {
            return at(i64());
        }
    }

    /** Device memory at an address. */
    public static MemorySegment at(long address) {
        return MemorySegment.ofAddress(address).reinterpret(EVERYTHING);
    }

    /** @param reach whether the GPUs have access to each other's memory */
    public StandInDriver(Map<String, Kernel> kernels, boolean reach) {
        this.kernels = kernels;
        this.reach = reach;
    }

    /** Contexts that another one was opened to. */
    public int opened() {
        return opened.size();
    }

    /** The context of GPU {@code index}, 0 or 1. */
    public GpuContext open(int index) {
        return GpuContext.open(CudaDriver.over(library.lookup()), index);
    }

    /** Graphs that nobody has destroyed, executable or not. */
    public int graphs() {
        return graphs.size();
    }

    /** How often a stream waited for an event. */
    public long waits() {
        return waits.get();
    }


    private static int write(MemorySegment out, int value) {
        out.reinterpret(4).set(ValueLayout.JAVA_INT, 0, value);
        return 0;
    }

    private int handle(MemorySegment out) {
        return write(out, handles.incrementAndGet());
    }

    private static int write(MemorySegment out, long value) {
        out.reinterpret(8).set(ValueLayout.JAVA_LONG_UNALIGNED, 0, value);
        return 0;
    }

    private static MemorySegment view(long address, long bytes) {
        return MemorySegment.ofAddress(address).reinterpret(bytes);
    }

    int cuInit(int flags) {
        return 0;
    }

    int cuDeviceGetCount(MemorySegment out) {
        return write(out, 2);
    }

    int cuDeviceGet(MemorySegment out, int index) {
        return write(out, index);
    }

    int cuDeviceGetName(MemorySegment out, int bytes, int device) {
        out.reinterpret(bytes).setString(0, "stand-in");
        return 0;
    }

    int cuDeviceGetAttribute(MemorySegment out, int attribute, int device) {
        return write(out, attribute == ATTRIBUTE_MAJOR ? 9 : attribute == ATTRIBUTE_PROCESSORS ? PROCESSORS : 0);
    }

    int cuDeviceTotalMem_v2(MemorySegment out, int device) {
        return write(out, 1L << 30);
    }

    int cuMemGetInfo_v2(MemorySegment free, MemorySegment total) {
        write(free, 1L << 29);
        return write(total, 1L << 30);
    }

    int cuDeviceCanAccessPeer(MemorySegment out, int device, int other) {
        return write(out, reach ? 1 : 0);
    }

    int cuCtxEnablePeerAccess(MemorySegment other, int flags) {
        return opened.add(other.address()) ? 0 : DriverErrors.PEER_ACCESS_ALREADY_ENABLED;
    }

    int cuDevicePrimaryCtxRetain(MemorySegment out, int device) {
        return handle(out);
    }

    int cuDevicePrimaryCtxRelease_v2(int device) {
        return 0;
    }

    int cuCtxSetCurrent(MemorySegment context) {
        return 0;
    }

    int cuMemAlloc_v2(MemorySegment out, long bytes) {
        Arena arena = Arena.ofShared();
        MemorySegment block = arena.allocate(bytes, 256);
        // Memory of a device holds whatever was there before.
        block.fill((byte) 0x7f);
        memory.put(block.address(), block);
        return write(out, block.address());
    }

    int cuMemFree_v2(long address) {
        return memory.remove(address) == null ? ERROR_INVALID_HANDLE : 0;
    }

    int cuMemcpyHtoDAsync_v2(long to, MemorySegment from, long bytes, MemorySegment stream) {
        return copy(to, from.address(), bytes);
    }

    int cuMemcpyDtoHAsync_v2(MemorySegment to, long from, long bytes, MemorySegment stream) {
        return copy(to.address(), from, bytes);
    }

    int cuMemcpyDtoDAsync_v2(long to, long from, long bytes, MemorySegment stream) {
        return enqueue(() -> copy(to, from, bytes));
    }

    /** Runs it, or keeps it for a graph. */
    private int enqueue(Runnable work) {
        captured.ifPresentOrElse(kept -> kept.add(work), work);
        return 0;
    }

    private static int copy(long to, long from, long bytes) {
        MemorySegment.copy(view(from, bytes), 0, view(to, bytes), 0, bytes);
        return 0;
    }

    int cuMemsetD8Async(long to, int value, long bytes, MemorySegment stream) {
        return enqueue(() -> view(to, bytes).fill((byte) value));
    }

    int cuStreamBeginCapture_v2(MemorySegment stream, int mode) {
        captured = Optional.of(new ArrayList<>());
        return 0;
    }

    int cuStreamEndCapture(MemorySegment stream, MemorySegment out) {
        long graph = handles.incrementAndGet();
        graphs.put(graph, captured.orElseThrow());
        captured = Optional.empty();
        return write(out, graph);
    }

    int cuGraphInstantiateWithFlags(MemorySegment out, MemorySegment graph, long flags) {
        long executable = handles.incrementAndGet();
        graphs.put(executable, graphs.get(graph.address()));
        return write(out, executable);
    }

    int cuGraphLaunch(MemorySegment executable, MemorySegment stream) {
        graphs.get(executable.address()).forEach(Runnable::run);
        return 0;
    }

    int cuGraphDestroy(MemorySegment graph) {
        return graphs.remove(graph.address()) == null ? ERROR_INVALID_HANDLE : 0;
    }

    int cuGraphExecDestroy(MemorySegment executable) {
        return graphs.remove(executable.address()) == null ? ERROR_INVALID_HANDLE : 0;
    }

    int cuStreamCreate(MemorySegment out, int flags) {
        return handle(out);
    }

    int cuStreamDestroy_v2(MemorySegment stream) {
        return 0;
    }

    int cuStreamSynchronize(MemorySegment stream) {
        return 0;
    }

    int cuStreamWaitEvent(MemorySegment stream, MemorySegment event, int flags) {
        waits.incrementAndGet();
        return marked.contains(event.address()) ? 0 : ERROR_INVALID_HANDLE;
    }

    int cuEventCreate(MemorySegment out, int flags) {
        return handle(out);
    }

    int cuEventDestroy_v2(MemorySegment event) {
        marked.remove(event.address());
        return 0;
    }

    int cuEventRecord(MemorySegment event, MemorySegment stream) {
        marked.add(event.address());
        return 0;
    }

    int cuModuleLoadDataEx(MemorySegment out, MemorySegment image, int count, MemorySegment options, MemorySegment values) {
        return handle(out);
    }

    int cuModuleUnload(MemorySegment module) {
        return 0;
    }

    int cuModuleGetFunction(MemorySegment out, MemorySegment module, MemorySegment name) {
        long handle = handles.incrementAndGet();
        functions.put(handle, name.reinterpret(256).getString(0));
        return write(out, handle);
    }

    int cuTensorMapEncodeTiled(MemorySegment map, int type, int rank, long address, MemorySegment sizes, MemorySegment strides, MemorySegment box,
                               MemorySegment steps, int interleave, int swizzle, int promotion, int fill) {
        return StandInTensorMap.encode(map, StandInTensorMap.of(type, rank, address, sizes, strides, box));
    }

    int cuFuncSetAttribute(MemorySegment function, int attribute, int value) {
        return 0;
    }

    int cuLaunchKernel(MemorySegment function, int gridX, int gridY, int gridZ, int blockX, int blockY, int blockZ, int shared, MemorySegment stream,
                       MemorySegment arguments, MemorySegment extra) {
        Kernel kernel = kernels.get(functions.get(function.address()));
        if (kernel == null) {
            return ERROR_LAUNCH_FAILED;
        }
        if (Math.min(gridX, Math.min(gridY, gridZ)) < 1 || Math.max(gridY, gridZ) > MOST_BLOCKS_ACROSS) {
            return ERROR_INVALID_VALUE;
        }
        if ((long) blockX * blockY * blockZ > KernelBounds.mostThreads(functions.get(function.address()))) {
            return ERROR_INVALID_VALUE;
        }
        kernel.run(new Values(arguments, List.of(gridX, gridY, gridZ)));
        return 0;
    }
}
