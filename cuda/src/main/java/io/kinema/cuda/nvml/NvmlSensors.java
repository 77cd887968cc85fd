package io.kinema.cuda.nvml;

import io.kinema.compute.DeviceSensors;
import io.kinema.cuda.ffi.Bindings;
import io.kinema.cuda.ffi.CudaLibrary;
import io.kinema.cuda.ffi.LibraryFinder;
import io.kinema.cuda.ffi.NativeCall;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Owns an initialised NVML until it is closed; closing twice is harmless. NVML numbers all GPUs of the machine, whatever
 * {@code CUDA_VISIBLE_DEVICES} shows; a sensor that a GPU does not have is left out.
 */
public final class NvmlSensors implements DeviceSensors {
    private static final int GPU_TEMPERATURE = 0;
    private static final int PROCESSOR_CLOCK = 1;
    /** nvmlMemory_t: total, free, used. */
    private static final long MEMORY_BYTES = 24;
    private static final long MEMORY_USED = 16;

    private final NvmlSymbols symbols;
    private boolean closed;

    private NvmlSensors(NvmlSymbols symbols) {
        this.symbols = symbols;
    }

    /** The sensors, or empty where NVML is not found or does not start. */
    public static Optional<DeviceSensors> open(LibraryFinder finder) {
        return finder.find(CudaLibrary.NVML).symbols().flatMap(lookup -> {
            NvmlSymbols symbols = Bindings.bind(NvmlSymbols.class, lookup, CudaLibrary.NVML.title());
            boolean started = NativeCall.status(() -> (int) symbols.init().invokeExact()) == 0;
            return started ? Optional.of(new NvmlSensors(symbols)) : Optional.empty();
        });
    }

    @Override
    public List<Reading> read() {
        List<Reading> all = new ArrayList<>();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(MEMORY_BYTES, 8);
            int count = NativeCall.status(() -> (int) symbols.count().invokeExact(out)) == 0 ? out.get(ValueLayout.JAVA_INT, 0) : 0;
            for (int i = 0; i < count; i++) {
                int index = i;
                if (NativeCall.status(() -> (int) symbols.handle().invokeExact(index, out)) == 0) {
                    all.add(new Reading("cuda:" + i, values(out.get(ValueLayout.ADDRESS, 0), out)));
                }
            }
        }
        return all;
    }

    private SortedMap<String, Double> values(MemorySegment gpu, MemorySegment out) {
        SortedMap<String, Double> values = new TreeMap<>();
        if (answers(() -> (int) symbols.power().invokeExact(gpu, out))) {
            values.put("power_watts", out.get(ValueLayout.JAVA_INT, 0) / 1e3);
        }
        if (answers(() -> (int) symbols.temperature().invokeExact(gpu, GPU_TEMPERATURE, out))) {
            values.put("temperature_celsius", (double) out.get(ValueLayout.JAVA_INT, 0));
        }
        if (answers(() -> (int) symbols.clock().invokeExact(gpu, PROCESSOR_CLOCK, out))) {
            values.put("clock_mhz", (double) out.get(ValueLayout.JAVA_INT, 0));
        }
        if (answers(() -> (int) symbols.memory().invokeExact(gpu, out))) {
            values.put("memory_used_bytes", (double) out.get(ValueLayout.JAVA_LONG, MEMORY_USED));
        }
        if (answers(() -> (int) symbols.throttling().invokeExact(gpu, out))) {
            values.put("throttle_reasons", (double) out.get(ValueLayout.JAVA_LONG, 0));
        }
        return values;
    }

    /** A sensor that this GPU or library lacks does not. */
    private static boolean answers(NativeCall.Status call) {
        try {
            return NativeCall.status(call) == 0;
        } catch (LinkageError olderLibrary) {
            return false;
        }
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            NativeCall.status(() -> (int) symbols.shutdown().invokeExact());
        }
    }
}
