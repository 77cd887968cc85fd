package io.kinema.cuda.nccl;

import io.kinema.cuda.ffi.Symbol;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/** The functions of NCCL that are used. Communicators and streams are opaque pointers, device addresses and counts are long. */
record NcclSymbols(
        @Symbol(value = "ncclGetVersion", takes = MemorySegment.class) MethodHandle getVersion,
        @Symbol(value = "ncclGetErrorString", takes = int.class, returns = MemorySegment.class) MethodHandle getErrorString,
        @Symbol(value = "ncclGetLastError", takes = MemorySegment.class, returns = MemorySegment.class) MethodHandle getLastError,
        @Symbol(value = "ncclCommInitAll", takes = {MemorySegment.class, int.class, MemorySegment.class}) MethodHandle commInitAll,
        @Symbol(value = "ncclCommDestroy", takes = MemorySegment.class) MethodHandle commDestroy,
        @Symbol(value = "ncclCommAbort", takes = MemorySegment.class) MethodHandle commAbort,
        @Symbol(value = "ncclCommGetAsyncError", takes = {MemorySegment.class, MemorySegment.class}) MethodHandle commGetAsyncError,
        @Symbol(value = "ncclGroupStart") MethodHandle groupStart,
        @Symbol(value = "ncclGroupEnd") MethodHandle groupEnd,
        @Symbol(value = "ncclAllReduce", takes = {long.class, long.class, long.class, int.class, int.class, MemorySegment.class, MemorySegment.class})
        MethodHandle allReduce,
        @Symbol(value = "ncclAllGather", takes = {long.class, long.class, long.class, int.class, MemorySegment.class, MemorySegment.class})
        MethodHandle allGather,
        @Symbol(value = "ncclReduceScatter", takes = {long.class, long.class, long.class, int.class, int.class, MemorySegment.class, MemorySegment.class})
        MethodHandle reduceScatter) {
}
