package io.kinema.cuda.driver;

import io.kinema.cuda.ffi.Symbol;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/** The functions of libcuda that are used. Device pointers, sizes and streams are passed as long or as opaque pointers. */
record DriverSymbols(
        @Symbol(value = "cuInit", takes = int.class) MethodHandle init,
        @Symbol(value = "cuDriverGetVersion", takes = MemorySegment.class) MethodHandle driverGetVersion,
        @Symbol(value = "cuGetErrorName", takes = {int.class, MemorySegment.class}) MethodHandle getErrorName,
        @Symbol(value = "cuGetErrorString", takes = {int.class, MemorySegment.class}) MethodHandle getErrorString,
        @Symbol(value = "cuDeviceGetCount", takes = MemorySegment.class) MethodHandle deviceGetCount,
        @Symbol(value = "cuDeviceGet", takes = {MemorySegment.class, int.class}) MethodHandle deviceGet,
        @Symbol(value = "cuDeviceGetName", takes = {MemorySegment.class, int.class, int.class}) MethodHandle deviceGetName,
        @Symbol(value = "cuDeviceGetAttribute", takes = {MemorySegment.class, int.class, int.class}) MethodHandle deviceGetAttribute,
        @Symbol(value = "cuDeviceTotalMem_v2", takes = {MemorySegment.class, int.class}) MethodHandle deviceTotalMem,
        @Symbol(value = "cuDevicePrimaryCtxRetain", takes = {MemorySegment.class, int.class}) MethodHandle primaryCtxRetain,
        @Symbol(value = "cuDevicePrimaryCtxRelease_v2", takes = int.class) MethodHandle primaryCtxRelease,
        @Symbol(value = "cuCtxSetCurrent", takes = MemorySegment.class) MethodHandle ctxSetCurrent,
        @Symbol(value = "cuDeviceCanAccessPeer", takes = {MemorySegment.class, int.class, int.class}) MethodHandle deviceCanAccessPeer,
        @Symbol(value = "cuCtxEnablePeerAccess", takes = {MemorySegment.class, int.class}) MethodHandle ctxEnablePeerAccess,
        @Symbol(value = "cuMemGetInfo_v2", takes = {MemorySegment.class, MemorySegment.class}) MethodHandle memGetInfo,
        @Symbol(value = "cuMemAlloc_v2", takes = {MemorySegment.class, long.class}) MethodHandle memAlloc,
        @Symbol(value = "cuMemFree_v2", takes = long.class) MethodHandle memFree,
        @Symbol(value = "cuMemHostAlloc", takes = {MemorySegment.class, long.class, int.class}) MethodHandle memHostAlloc,
        @Symbol(value = "cuMemFreeHost", takes = MemorySegment.class) MethodHandle memFreeHost,
        @Symbol(value = "cuMemcpyHtoDAsync_v2", takes = {long.class, MemorySegment.class, long.class, MemorySegment.class}) MethodHandle memcpyHtoD,
        @Symbol(value = "cuMemcpyDtoHAsync_v2", takes = {MemorySegment.class, long.class, long.class, MemorySegment.class}) MethodHandle memcpyDtoH,
        @Symbol(value = "cuMemcpyDtoDAsync_v2", takes = {long.class, long.class, long.class, MemorySegment.class}) MethodHandle memcpyDtoD,
        @Symbol(value = "cuMemsetD8Async", takes = {long.class, int.class, long.class, MemorySegment.class}) MethodHandle memsetD8,
        @Symbol(value = "cuStreamCreate", takes = {MemorySegment.class, int.class}) MethodHandle streamCreate,
        @Symbol(value = "cuStreamDestroy_v2", takes = MemorySegment.class) MethodHandle streamDestroy,
        @Symbol(value = "cuStreamSynchronize", takes = MemorySegment.class) MethodHandle streamSynchronize,
        @Symbol(value = "cuStreamWaitEvent", takes = {MemorySegment.class, MemorySegment.class, int.class}) MethodHandle streamWaitEvent,
        @Symbol(value = "cuStreamBeginCapture_v2", takes = {MemorySegment.class, int.class}) MethodHandle streamBeginCapture,
        @Symbol(value = "cuStreamEndCapture", takes = {MemorySegment.class, MemorySegment.class}) MethodHandle streamEndCapture,
        @Symbol(value = "cuGraphInstantiateWithFlags", takes = {MemorySegment.class, MemorySegment.class, long.class}) MethodHandle graphInstantiate,
        @Symbol(value = "cuGraphLaunch", takes = {MemorySegment.class, MemorySegment.class}) MethodHandle graphLaunch,
        @Symbol(value = "cuGraphExecDestroy", takes = MemorySegment.class) MethodHandle graphExecDestroy,
        @Symbol(value = "cuGraphDestroy", takes = MemorySegment.class) MethodHandle graphDestroy,
        @Symbol(value = "cuEventCreate", takes = {MemorySegment.class, int.class}) MethodHandle eventCreate,
        @Symbol(value = "cuEventDestroy_v2", takes = MemorySegment.class) MethodHandle eventDestroy,
        @Symbol(value = "cuEventRecord", takes = {MemorySegment.class, MemorySegment.class}) MethodHandle eventRecord,
        @Symbol(value = "cuEventElapsedTime", takes = {MemorySegment.class, MemorySegment.class, MemorySegment.class}) MethodHandle eventElapsedTime,
        @Symbol(value = "cuModuleLoadDataEx",
                takes = {MemorySegment.class, MemorySegment.class, int.class, MemorySegment.class, MemorySegment.class}) MethodHandle moduleLoadData,
        @Symbol(value = "cuModuleUnload", takes = MemorySegment.class) MethodHandle moduleUnload,
        @Symbol(value = "cuModuleGetFunction", takes = {MemorySegment.class, MemorySegment.class, MemorySegment.class}) MethodHandle moduleGetFunction,
        @Symbol(value = "cuFuncSetAttribute", takes = {MemorySegment.class, int.class, int.class}) MethodHandle funcSetAttribute,
        @Symbol(value = "cuLaunchKernel", takes = {MemorySegment.class, int.class, int.class, int.class, int.class, int.class, int.class, int.class,
            MemorySegment.class, MemorySegment.class, MemorySegment.class}) MethodHandle launchKernel) {
}
