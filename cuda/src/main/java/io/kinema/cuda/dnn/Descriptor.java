package io.kinema.cuda.dnn;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Owns one backend descriptor of cuDNN until it is closed; closing twice is harmless. Setters return this. */
final class Descriptor implements AutoCloseable {
    /** cudnnBackendDescriptorType_t. */
    enum Kind {
        POINTWISE(0), ENGINE_CONFIG(3), HEURISTIC(4), PLAN(5), OPERATION_POINTWISE(13), GRAPH(15), VARIANT_PACK(16), TENSOR(17),
        MATMUL(18), OPERATION_MATMUL(19), REDUCTION(21), OPERATION_REDUCTION(22), OPERATION_ATTENTION(41);

        final int code;

        Kind(int code) {
            this.code = code;
        }
    }

    private static final int HANDLE = 0;
    private static final int DATA_TYPE = 1;
    private static final int BOOLEAN = 2;
    private static final int INT64 = 3;
    private static final int POINTER = 6;
    private static final int DESCRIPTOR = 15;

    private final Cudnn cudnn;
    private final Kind kind;
    private final MemorySegment handle;
    private boolean closed;

    Descriptor(Cudnn cudnn, Kind kind) {
        this.cudnn = cudnn;
        this.kind = kind;
        try (Arena call = Arena.ofConfined()) {
            MemorySegment out = call.allocate(ValueLayout.ADDRESS);
            cudnn.check("cudnnBackendCreateDescriptor " + kind, () -> (int) cudnn.symbols().createDescriptor().invokeExact(kind.code, out));
            this.handle = out.get(ValueLayout.ADDRESS, 0);
        }
    }

    MemorySegment handle() {
        return handle;
    }

    Descriptor longs(int attribute, long... values) {
        try (Arena call = Arena.ofConfined()) {
            return set(attribute, INT64, values.length, call.allocateFrom(ValueLayout.JAVA_LONG, values));
        }
    }

    Descriptor dataType(int attribute, int type) {
        return number(attribute, DATA_TYPE, type);
    }

    /** An enumeration value; {@code type} says which enumeration. */
    Descriptor number(int attribute, int type, int value) {
        try (Arena call = Arena.ofConfined()) {
            return set(attribute, type, 1, call.allocateFrom(ValueLayout.JAVA_INT, value));
        }
    }

    Descriptor flag(int attribute, boolean value) {
        try (Arena call = Arena.ofConfined()) {
            return set(attribute, BOOLEAN, 1, call.allocateFrom(ValueLayout.JAVA_BYTE, (byte) (value ? 1 : 0)));
        }
    }

    Descriptor library(int attribute) {
        return addresses(attribute, HANDLE, cudnn.handle().address());
    }

    Descriptor pointers(int attribute, long... values) {
        return addresses(attribute, POINTER, values);
    }

    Descriptor descriptors(int attribute, Descriptor... values) {
        long[] handles = new long[values.length];
        for (int i = 0; i < values.length; i++) {
            handles[i] = values[i].handle.address();
        }
        return addresses(attribute, DESCRIPTOR, handles);
    }

    private Descriptor addresses(int attribute, int type, long... values) {
        try (Arena call = Arena.ofConfined()) {
            return set(attribute, type, values.length, call.allocateFrom(ValueLayout.JAVA_LONG, values));
        }
    }

    private Descriptor set(int attribute, int type, long count, MemorySegment values) {
        cudnn.check("cudnnBackendSetAttribute " + kind + " " + attribute,
                () -> (int) cudnn.symbols().setAttribute().invokeExact(handle, attribute, type, count, values));
        return this;
    }

    Descriptor finish() {
        cudnn.check("cudnnBackendFinalize " + kind, () -> (int) cudnn.symbols().finish().invokeExact(handle));
        return this;
    }

    long readLong(int attribute) {
        try (Arena call = Arena.ofConfined()) {
            MemorySegment count = call.allocate(ValueLayout.JAVA_LONG);
            MemorySegment value = call.allocate(ValueLayout.JAVA_LONG);
            cudnn.check("cudnnBackendGetAttribute " + kind + " " + attribute,
                    () -> (int) cudnn.symbols().getAttribute().invokeExact(handle, attribute, INT64, 1L, count, value));
            return value.get(ValueLayout.JAVA_LONG, 0);
        }
    }

    /** Fills {@code into} and returns how many of them were. */
    int readDescriptors(int attribute, Descriptor[] into) {
        try (Arena call = Arena.ofConfined()) {
            MemorySegment count = call.allocate(ValueLayout.JAVA_LONG);
            MemorySegment values = call.allocate(ValueLayout.JAVA_LONG, into.length);
            for (int i = 0; i < into.length; i++) {
                values.setAtIndex(ValueLayout.JAVA_LONG, i, into[i].handle.address());
            }
            cudnn.check("cudnnBackendGetAttribute " + kind + " " + attribute,
                    () -> (int) cudnn.symbols().getAttribute().invokeExact(handle, attribute, DESCRIPTOR, (long) into.length, count, values));
            return (int) Math.min(into.length, count.get(ValueLayout.JAVA_LONG, 0));
        }
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            cudnn.check("cudnnBackendDestroyDescriptor", () -> (int) cudnn.symbols().destroyDescriptor().invokeExact(handle));
        }
    }
}
