package io.kinema.cuda.dnn;

import io.kinema.cuda.ffi.Symbol;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/** The functions of cuDNN 9 that are used. */
record CudnnSymbols(
        @Symbol(value = "cudnnCreate", takes = MemorySegment.class) MethodHandle create,
        @Symbol(value = "cudnnDestroy", takes = MemorySegment.class) MethodHandle destroy,
        @Symbol(value = "cudnnSetStream", takes = {MemorySegment.class, MemorySegment.class}) MethodHandle setStream,
        @Symbol(value = "cudnnGetVersion", returns = long.class) MethodHandle version,
        @Symbol(value = "cudnnGetErrorString", takes = int.class, returns = MemorySegment.class) MethodHandle errorString,
        @Symbol(value = "cudnnGetLastErrorString", takes = {MemorySegment.class, long.class}, returns = void.class) MethodHandle lastErrorString,
        @Symbol(value = "cudnnBackendCreateDescriptor", takes = {int.class, MemorySegment.class}) MethodHandle createDescriptor,
        @Symbol(value = "cudnnBackendDestroyDescriptor", takes = MemorySegment.class) MethodHandle destroyDescriptor,
        @Symbol(value = "cudnnBackendSetAttribute",
                takes = {MemorySegment.class, int.class, int.class, long.class, MemorySegment.class}) MethodHandle setAttribute,
        @Symbol(value = "cudnnBackendGetAttribute",
                takes = {MemorySegment.class, int.class, int.class, long.class, MemorySegment.class, MemorySegment.class}) MethodHandle getAttribute,
        @Symbol(value = "cudnnBackendFinalize", takes = MemorySegment.class) MethodHandle finish,
        @Symbol(value = "cudnnBackendExecute", takes = {MemorySegment.class, MemorySegment.class, MemorySegment.class}) MethodHandle execute) {
}
