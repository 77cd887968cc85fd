package io.kinema.cuda.nccl;

import io.kinema.cuda.ffi.CudaLibrary;
import io.kinema.cuda.ffi.StandInLibrary;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandles;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Plays NCCL over memory of the host: an operation runs when its group has ended, and only with all communicators in it. */
public final class StandInNccl {
    private static final ValueLayout.OfFloat F32 = ValueLayout.JAVA_FLOAT_UNALIGNED;
    private static final MemorySegment WORDS = Arena.global().allocateFrom("remote process exited or there was a network error");
    private static final MemorySegment LAST = Arena.global().allocateFrom("socketProgress: Connection\n closed by peer");

    private final List<String> calls = Collections.synchronizedList(new ArrayList<>());
    private final Map<Long, Integer> ranks = new HashMap<>();
    private final List<Call> group = new ArrayList<>();
    private int joined;
    private int asyncError;
    private int refusal;

    private record Call(long from, long to, long count, long communicator) {
    }

    /** The library. */
    public Nccl library() {
        return Nccl.load(new StandInLibrary(this, MethodHandles.lookup()).found(CudaLibrary.NCCL));
    }

    /** What was called, in order: names, with devices where communicators are made. */
    public List<String> calls() {
        return List.copyOf(calls);
    }

    /** Lets all-reduces return this status from now on. */
    public void refuse(int status) {
        refusal = status;
    }

    /** Lets communicators report this error of earlier operations from now on. */
    public void failLater(int status) {
        asyncError = status;
    }

    int ncclGetVersion(MemorySegment out) {
        out.reinterpret(4).set(ValueLayout.JAVA_INT, 0, 22707);
        return 0;
    }

    MemorySegment ncclGetErrorString(int code) {
        return WORDS;
    }

    MemorySegment ncclGetLastError(MemorySegment communicator) {
        return LAST;
    }

    int ncclCommInitAll(MemorySegment out, int count, MemorySegment devices) {
        MemorySegment list = devices.reinterpret(4L * count);
        List<Integer> all = new ArrayList<>();
        joined = count;
        for (int rank = 0; rank < count; rank++) {
            long handle = 0x10_0000L + 0x100L * calls.size() + rank;
            ranks.put(handle, rank);
            out.reinterpret(8L * count).setAtIndex(ValueLayout.JAVA_LONG, rank, handle);
            all.add(list.getAtIndex(ValueLayout.JAVA_INT, rank));
        }
        calls.add("init " + all);
        return 0;
    }

    int ncclCommDestroy(MemorySegment communicator) {
        return gone("destroy", communicator);
    }

    int ncclCommAbort(MemorySegment communicator) {
        return gone("abort", communicator);
    }

    private int gone(String how, MemorySegment communicator) {
        Integer rank = ranks.remove(communicator.address());
        calls.add(how + " " + rank);
        return rank == null ? 4 : 0;
    }

    int ncclCommGetAsyncError(MemorySegment communicator, MemorySegment out) {
        out.reinterpret(4).set(ValueLayout.JAVA_INT, 0, asyncError);
        return 0;
    }

    int ncclGroupStart() {
        group.clear();
        return 0;
    }

    int ncclAllReduce(long from, long to, long count, int type, int operation, MemorySegment communicator, MemorySegment stream) {
        group.add(new Call(from, to, count, communicator.address()));
        return refusal != 0 ? refusal : type == 7 && operation == 0 ? 0 : 4;
    }

    int ncclAllGather(long from, long to, long count, int type, MemorySegment communicator, MemorySegment stream) {
        group.add(new Call(from, to, -count, communicator.address()));
        return type == 1 ? 0 : 4;
    }

    int ncclGroupEnd() {
        calls.add("group of " + group.size() + " on thread " + Thread.currentThread().getName());
        if (group.size() != joined || group.stream().anyMatch(c -> !ranks.containsKey(c.communicator()))) {
            return 5;
        }
        if (group.getFirst().count() < 0) {
            gather(-group.getFirst().count());
        } else {
            sum(group.getFirst().count());
        }
        return 0;
    }

    private void sum(long count) {
        for (long i = 0; i < count; i++) {
            float sum = 0;
            for (Call call : group) {
                sum += memory(call.from(), 4 * count).get(F32, 4 * i);
            }
            for (Call call : group) {
                memory(call.to(), 4 * count).set(F32, 4 * i, sum);
            }
        }
    }

    private void gather(long bytes) {
        for (Call to : group) {
            for (Call from : group) {
                MemorySegment.copy(memory(from.from(), bytes), 0, memory(to.to(), bytes * joined), bytes * ranks.get(from.communicator()), bytes);
            }
        }
    }

    private static MemorySegment memory(long address, long bytes) {
        return MemorySegment.ofAddress(address).reinterpret(bytes);
    }
}
