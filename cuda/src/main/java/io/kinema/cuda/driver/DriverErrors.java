package io.kinema.cuda.driver;

import io.kinema.cuda.ffi.CudaException;
import io.kinema.cuda.ffi.NativeCall;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Map;

/** Names and meanings of driver status codes: the driver's own words, with advice for the few that users meet. */
final class DriverErrors {
    static final int OUT_OF_MEMORY = 2;
    static final int PEER_ACCESS_ALREADY_ENABLED = 704;

    private static final Map<Integer, String> ADVICE = Map.of(
            OUT_OF_MEMORY, "the GPU's memory is full; close other programs on it, ask for a smaller clip, or offload weights",
            100, "no GPU is visible; see nvidia-smi and CUDA_VISIBLE_DEVICES",
            209, "this build has no kernels for this GPU; see kinema doctor",
            700, "a kernel read or wrote outside its memory; please report it with the command",
            719, "a kernel failed on the GPU; please report it with the command",
            803, "the driver is too old for this GPU or library; update it",
            999, "the driver is in a bad state; restart the program, or the machine if that does not help");

    private final DriverSymbols symbols;

    DriverErrors(DriverSymbols symbols) {
        this.symbols = symbols;
    }

    /** Fails unless {@code call} returns 0. */
    void check(String function, NativeCall.Status call) {
        int code = NativeCall.status(call);
        if (code != 0) {
            throw of(function, code);
        }
    }

    CudaException of(String function, int code) {
        String meaning = ADVICE.getOrDefault(code, text(code, false));
        return new CudaException(function, code, text(code, true), meaning);
    }

    private String text(int code, boolean name) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(ValueLayout.ADDRESS);
            int status = NativeCall.status(() -> (int) (name ? symbols.getErrorName() : symbols.getErrorString()).invokeExact(code, out));
            return status == 0 ? NativeCall.text(() -> out.get(ValueLayout.ADDRESS, 0)) : "CUDA error " + code;
        } catch (LinkageError nameless) {
            return "CUDA error " + code;
        }
    }
}
