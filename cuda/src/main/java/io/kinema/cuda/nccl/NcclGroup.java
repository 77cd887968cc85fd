package io.kinema.cuda.nccl;

import io.kinema.cuda.ffi.CudaException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Owns the communicators of all ranks of one process until the last of them has left or it is aborted, which is harmless the second time. One thread enqueues
 * an operation for all ranks at once, when all of them have come to it: so no thread ever waits inside NCCL for another one, which may have failed.
 * Any thread may call it.
 */
public final class NcclGroup {
    private static final int UINT8 = 1;
    private static final int FLOAT32 = 7;
    private static final int SUM = 0;

    private final Nccl nccl;
    private final List<MemorySegment> communicators;
    private int present;
    private boolean open = true;

    /**
     * What one rank brings to an operation.
     *
     * @param from   device address of its values
     * @param to     device address of its result
     * @param stream the native stream on which its part is enqueued
     */
    public record Part(long from, long to, MemorySegment stream) {
    }

    private NcclGroup(Nccl nccl, List<MemorySegment> communicators) {
        this.nccl = nccl;
        this.communicators = communicators;
        this.present = communicators.size();
    }

    /**
     * Joins GPUs. Takes some hundred milliseconds, and memory of the GPUs that NCCL holds for itself.
     *
     * @param devices of the ranks in their order, as the driver numbers them, all different
     */
    public static NcclGroup open(Nccl nccl, List<Integer> devices) {
        try (Arena call = Arena.ofConfined()) {
            MemorySegment out = call.allocate(ValueLayout.ADDRESS, devices.size());
            MemorySegment list = call.allocateFrom(ValueLayout.JAVA_INT, devices.stream().mapToInt(d -> d).toArray());
            nccl.check("ncclCommInitAll on " + devices, () -> (int) nccl.symbols().commInitAll().invokeExact(out, devices.size(), list));
            List<MemorySegment> all = new ArrayList<>();
            for (int i = 0; i < devices.size(); i++) {
                all.add(out.getAtIndex(ValueLayout.ADDRESS, i));
            }
            return new NcclGroup(nccl, all);
        }
    }

    /** False when all ranks have left, and after {@link #abort}. */
    public synchronized boolean isOpen() {
        return open;
    }

    /** Enqueues a sum of FP32 values for all ranks. @param parts in the order of ranks; from may be to */
    public void allReduce(List<Part> parts, long elements) {
        each("ncclAllReduce", parts, (part, communicator) -> (int) nccl.symbols().allReduce().invokeExact(part.from(), part.to(), elements, FLOAT32, SUM,
                communicator, part.stream()));
    }

    /** Enqueues a sum of FP32 values of which each rank gets its share. @param elements of a share */
    public void reduceScatter(List<Part> parts, long elements) {
        each("ncclReduceScatter", parts, (part, communicator) -> (int) nccl.symbols().reduceScatter().invokeExact(part.from(), part.to(), elements, FLOAT32, SUM,
                communicator, part.stream()));
    }

    /** Enqueues a gather of bytes for all ranks. @param bytes of each rank */
    public void allGather(List<Part> parts, long bytes) {
        each("ncclAllGather", parts, (part, communicator) -> (int) nccl.symbols().allGather().invokeExact(part.from(), part.to(), bytes, UINT8, communicator,
                part.stream()));
    }

    @FunctionalInterface
    private interface Operation {
        int enqueue(Part part, MemorySegment communicator) throws Throwable;
    }

    private synchronized void each(String function, List<Part> parts, Operation operation) {
        if (!open) {
            throw new IllegalStateException(function + ": the communicators are closed, or were aborted when a rank failed");
        }
        if (parts.size() != communicators.size()) {
            throw new IllegalArgumentException(function + ": got " + parts.size() + " parts, expected one for each of " + communicators.size() + " ranks");
        }
        requireSound();
        nccl.check("ncclGroupStart", () -> (int) nccl.symbols().groupStart().invokeExact());
        Optional<CudaException> refused = enqueued(function, parts, operation);
        try {
            nccl.check("ncclGroupEnd after " + function, () -> (int) nccl.symbols().groupEnd().invokeExact());
        } catch (CudaException e) {
            throw refused.orElse(e);
        }
        refused.ifPresent(e -> {
            throw e;
        });
    }

    /** A group that was begun has to be ended, also when a call in it is refused. */
    private Optional<CudaException> enqueued(String function, List<Part> parts, Operation operation) {
        try {
            for (int rank = 0; rank < parts.size(); rank++) {
                Part part = parts.get(rank);
                MemorySegment communicator = communicators.get(rank);
                nccl.check(function, () -> operation.enqueue(part, communicator));
            }
            return Optional.empty();
        } catch (CudaException e) {
            return Optional.of(e);
        }
    }

    /** Errors of earlier operations, which NCCL meets later than they are enqueued. */
    private void requireSound() {
        try (Arena call = Arena.ofConfined()) {
            MemorySegment out = call.allocate(ValueLayout.JAVA_INT);
            for (int rank = 0; rank < communicators.size(); rank++) {
                MemorySegment communicator = communicators.get(rank);
                nccl.check("ncclCommGetAsyncError", () -> (int) nccl.symbols().commGetAsyncError().invokeExact(communicator, out));
                int code = out.get(ValueLayout.JAVA_INT, 0);
                if (code != 0) {
                    throw nccl.of("NCCL on rank " + rank, code);
                }
            }
        }
    }

    /**
     * Ends what is under way on all GPUs, with results that nobody may read, so that nobody waits for it any more. A GPU that is broken does not keep the others
     * waiting.
     */
    public synchronized void abort() {
        if (open) {
            open = false;
            List<CudaException> broken = new ArrayList<>();
            for (MemorySegment communicator : communicators) {
                try {
                    nccl.check("ncclCommAbort", () -> (int) nccl.symbols().commAbort().invokeExact(communicator));
                } catch (CudaException e) {
                    broken.add(e);
                }
            }
            if (!broken.isEmpty()) {
                throw broken.getFirst();
            }
        }
    }

    /** One rank, whose stream has finished, leaves; the communicators are destroyed with the last. Every rank calls it once. */
    public synchronized void leave() {
        if (--present == 0 && open) {
            open = false;
            communicators.forEach(c -> nccl.check("ncclCommDestroy", () -> (int) nccl.symbols().commDestroy().invokeExact(c)));
        }
    }
}
