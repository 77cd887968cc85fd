package io.kinema.cuda.nvml;

import io.kinema.cuda.ffi.Symbol;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/** The functions of NVML that are used. */
record NvmlSymbols(
        @Symbol(value = "nvmlInit_v2") MethodHandle init,
        @Symbol(value = "nvmlShutdown") MethodHandle shutdown,
        @Symbol(value = "nvmlDeviceGetCount_v2", takes = MemorySegment.class) MethodHandle count,
        @Symbol(value = "nvmlDeviceGetHandleByIndex_v2", takes = {int.class, MemorySegment.class}) MethodHandle handle,
        @Symbol(value = "nvmlDeviceGetPowerUsage", takes = {MemorySegment.class, MemorySegment.class}) MethodHandle power,
        @Symbol(value = "nvmlDeviceGetTemperature", takes = {MemorySegment.class, int.class, MemorySegment.class}) MethodHandle temperature,
        @Symbol(value = "nvmlDeviceGetClockInfo", takes = {MemorySegment.class, int.class, MemorySegment.class}) MethodHandle clock,
        @Symbol(value = "nvmlDeviceGetMemoryInfo", takes = {MemorySegment.class, MemorySegment.class}) MethodHandle memory,
        @Symbol(value = "nvmlDeviceGetCurrentClocksThrottleReasons", takes = {MemorySegment.class, MemorySegment.class}) MethodHandle throttling) {
}
