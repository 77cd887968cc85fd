package io.kinema.cuda.nccl;

import io.kinema.cuda.ffi.Bindings;
import io.kinema.cuda.ffi.CudaException;
import io.kinema.cuda.ffi.CudaLibrary;
import io.kinema.cuda.ffi.LibraryFinder;
import io.kinema.cuda.ffi.NativeCall;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;

/** The loaded library. It stays loaded for the life of the process. */
public final class Nccl {
    private static final List<String> STATUS = List.of("ncclSuccess", "ncclUnhandledCudaError", "ncclSystemError", "ncclInternalError", "ncclInvalidArgument",
            "ncclInvalidUsage", "ncclRemoteError", "ncclInProgress", "ncclTimeout");

    private final NcclSymbols symbols;

    private Nccl(NcclSymbols symbols) {
        this.symbols = symbols;
    }

    /** Binds what was found. @throws io.kinema.cuda.ffi.CudaUnavailableException when nothing was */
    public static Nccl load(LibraryFinder.Found found) {
        return new Nccl(Bindings.bind(NcclSymbols.class, found.require(), CudaLibrary.NCCL.title()));
    }

    /** Such as {@code 2.27.7}. */
    public String version() {
        try (Arena call = Arena.ofConfined()) {
            MemorySegment out = call.allocate(ValueLayout.JAVA_INT);
            check("ncclGetVersion", () -> (int) symbols.getVersion().invokeExact(out));
            int version = out.get(ValueLayout.JAVA_INT, 0);
            return version / 10_000 + "." + version / 100 % 100 + "." + version % 100;
        }
    }

    NcclSymbols symbols() {
        return symbols;
    }

    /** Fails unless {@code call} returns 0; the message has NCCL's own words, and its last error where it kept one. */
    void check(String function, NativeCall.Status call) {
        int code = NativeCall.status(call);
        if (code != 0) {
            throw of(function, code);
        }
    }

    CudaException of(String function, int code) {
        String meaning = text(() -> (MemorySegment) symbols.getErrorString().invokeExact(code));
        String last = text(() -> (MemorySegment) symbols.getLastError().invokeExact(MemorySegment.NULL));
        String name = code >= 0 && code < STATUS.size() ? STATUS.get(code) : "NCCL status " + code;
        return new CudaException(function, code, name, last.isBlank() ? meaning : meaning + ": " + last);
    }

    private static String text(NativeCall.Pointer call) {
        try {
            return NativeCall.text(call).strip().replaceAll("\\s+", " ");
        } catch (LinkageError olderThanThatFunction) {
            return "";
        }
    }
}
