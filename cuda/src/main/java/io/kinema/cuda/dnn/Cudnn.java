package io.kinema.cuda.dnn;

import io.kinema.cuda.driver.GpuStream;
import io.kinema.cuda.ffi.Bindings;
import io.kinema.cuda.ffi.CudaException;
import io.kinema.cuda.ffi.CudaLibrary;
import io.kinema.cuda.ffi.LibraryFinder;
import io.kinema.cuda.ffi.NativeCall;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Owns a cuDNN handle bound to one stream until it is closed; closing twice is harmless. Used by the stream's thread. */
public final class Cudnn implements AutoCloseable {
    private static final int MESSAGE_BYTES = 1024;

    private final CudnnSymbols symbols;
    private final MemorySegment handle;
    private boolean closed;

    private Cudnn(CudnnSymbols symbols, GpuStream stream) {
        this.symbols = symbols;
        try (Arena call = Arena.ofConfined()) {
            MemorySegment out = call.allocate(ValueLayout.ADDRESS);
            check("cudnnCreate", () -> (int) symbols.create().invokeExact(out));
            this.handle = out.get(ValueLayout.ADDRESS, 0);
        }
        check("cudnnSetStream", () -> (int) symbols.setStream().invokeExact(handle, stream.handle()));
    }

    /** Binds what was found. @throws io.kinema.cuda.ffi.CudaUnavailableException when nothing was */
    public static Cudnn open(LibraryFinder.Found found, GpuStream stream) {
        return new Cudnn(Bindings.bind(CudnnSymbols.class, found.require(), CudaLibrary.CUDNN.title()), stream);
    }

    /** Such as 91900 for 9.19.0. */
    public long version() {
        long[] version = new long[1];
        NativeCall.status(() -> {
            version[0] = (long) symbols.version().invokeExact();
            return 0;
        });
        return version[0];
    }

    CudnnSymbols symbols() {
        return symbols;
    }

    MemorySegment handle() {
        return handle;
    }

    void check(String function, NativeCall.Status call) {
        int code = NativeCall.status(call);
        if (code != 0) {
            throw new CudaException(function, code, NativeCall.text(() -> (MemorySegment) symbols.errorString().invokeExact(code)), lastError());
        }
    }

    private String lastError() {
        try (Arena call = Arena.ofConfined()) {
            MemorySegment message = call.allocate(MESSAGE_BYTES);
            NativeCall.status(() -> {
                symbols.lastErrorString().invokeExact(message, (long) MESSAGE_BYTES);
                return 0;
            });
            return message.getString(0).strip().replace('\n', ' ');
        } catch (LinkageError olderThanThatFunction) {
            return "";
        }
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            check("cudnnDestroy", () -> (int) symbols.destroy().invokeExact(handle));
        }
    }
}
