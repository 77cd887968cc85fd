package io.kinema.cuda.blas;

import io.kinema.cuda.ffi.Symbol;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/** The functions of cuBLASLt that are used. */
record CublasLtSymbols(
        @Symbol(value = "cublasLtCreate", takes = MemorySegment.class) MethodHandle create,
        @Symbol(value = "cublasLtDestroy", takes = MemorySegment.class) MethodHandle destroy,
        @Symbol(value = "cublasLtGetVersion", returns = long.class) MethodHandle version,
        @Symbol(value = "cublasLtGetStatusName", takes = int.class, returns = MemorySegment.class) MethodHandle statusName,
        @Symbol(value = "cublasLtGetStatusString", takes = int.class, returns = MemorySegment.class) MethodHandle statusString,
        @Symbol(value = "cublasLtMatmulDescCreate", takes = {MemorySegment.class, int.class, int.class}) MethodHandle matmulDescCreate,
        @Symbol(value = "cublasLtMatmulDescDestroy", takes = MemorySegment.class) MethodHandle matmulDescDestroy,
        @Symbol(value = "cublasLtMatmulDescSetAttribute",
                takes = {MemorySegment.class, int.class, MemorySegment.class, long.class}) MethodHandle matmulDescSetAttribute,
        @Symbol(value = "cublasLtMatrixLayoutCreate",
                takes = {MemorySegment.class, int.class, long.class, long.class, long.class}) MethodHandle matrixLayoutCreate,
        @Symbol(value = "cublasLtMatrixLayoutDestroy", takes = MemorySegment.class) MethodHandle matrixLayoutDestroy,
        @Symbol(value = "cublasLtMatmulPreferenceCreate", takes = MemorySegment.class) MethodHandle preferenceCreate,
        @Symbol(value = "cublasLtMatmulPreferenceDestroy", takes = MemorySegment.class) MethodHandle preferenceDestroy,
        @Symbol(value = "cublasLtMatmulPreferenceSetAttribute",
                takes = {MemorySegment.class, int.class, MemorySegment.class, long.class}) MethodHandle preferenceSetAttribute,
        @Symbol(value = "cublasLtMatmulAlgoGetHeuristic", takes = {MemorySegment.class, MemorySegment.class, MemorySegment.class, MemorySegment.class,
            MemorySegment.class, MemorySegment.class, MemorySegment.class, int.class, MemorySegment.class, MemorySegment.class}) MethodHandle heuristic,
        @Symbol(value = "cublasLtMatmulAlgoConfigGetAttribute",
                takes = {MemorySegment.class, int.class, MemorySegment.class, long.class, MemorySegment.class}) MethodHandle algoConfig,
        @Symbol(value = "cublasLtMatmul", takes = {MemorySegment.class, MemorySegment.class, MemorySegment.class, long.class, MemorySegment.class,
            long.class, MemorySegment.class, MemorySegment.class, long.class, MemorySegment.class, long.class, MemorySegment.class,
            MemorySegment.class, long.class, long.class, MemorySegment.class}) MethodHandle matmul) {
}
