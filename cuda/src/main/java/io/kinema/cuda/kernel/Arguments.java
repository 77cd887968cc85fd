package io.kinema.cuda.kernel;

import io.kinema.compute.Tensor;
import io.kinema.cuda.driver.TensorMap;
import io.kinema.weights.DType;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Optional;

/**
 * Owns the host memory in which one launch's arguments are laid out, until it is closed; reused by every launch, because the
 * driver copies arguments when it is called. Methods append in the kernel's order and return this. Used by one thread.
 */
public final class Arguments implements AutoCloseable {
    private static final int MOST = 64;
    private static final long BYTES = 4096;

    private final Arena arena = Arena.ofShared();
    private final MemorySegment values = arena.allocate(BYTES, 16);
    private final MemorySegment pointers = arena.allocate(ValueLayout.ADDRESS, MOST);
    private int count;
    private long top;

    /** Starts again. */
    public Arguments clear() {
        count = 0;
        top = 0;
        return this;
    }

    private long place(long bytes, long alignment) {
        top = (top + alignment - 1) & -alignment;
        long at = top;
        pointers.setAtIndex(ValueLayout.ADDRESS, count++, values.asSlice(at));
        top += bytes;
        return at;
    }

    public Arguments i32(int value) {
        values.set(ValueLayout.JAVA_INT, place(4, 4), value);
        return this;
    }

    public Arguments i64(long value) {
        values.set(ValueLayout.JAVA_LONG, place(8, 8), value);
        return this;
    }

    public Arguments f32(float value) {
        values.set(ValueLayout.JAVA_FLOAT, place(4, 4), value);
        return this;
    }

    /** A device address; 0 means absent. */
    public Arguments address(long value) {
        return i64(value);
    }

    /** The address of a tensor's first element. */
    public Arguments tensor(Tensor t) {
        return i64(t.data().address());
    }

    public Arguments tensor(Optional<Tensor> t) {
        return i64(t.map(x -> x.data().address()).orElse(0L));
    }

    /** The address, then the row structure. */
    public Arguments rows(RowView view) {
        i64(view.address());
        long at = place(24, 8);
        values.set(ValueLayout.JAVA_LONG, at, view.outer());
        values.set(ValueLayout.JAVA_LONG, at + 8, view.inner());
        values.set(ValueLayout.JAVA_INT, at + 16, view.count());
        values.set(ValueLayout.JAVA_INT, at + 20, 0);
        return this;
    }

    /** A structure of longs followed by ints. */
    public Arguments struct(long[] longs, int... ints) {
        long at = place(8L * longs.length + 4L * ints.length, 8);
        for (int i = 0; i < longs.length; i++) {
            values.set(ValueLayout.JAVA_LONG, at + 8L * i, longs[i]);
        }
        for (int i = 0; i < ints.length; i++) {
            values.set(ValueLayout.JAVA_INT, at + 8L * longs.length + 4L * i, ints[i]);
        }
        return this;
    }

    /** A matrix as the tensor copy engine wants it described. */
    public Arguments map(TensorMap map) {
        MemorySegment.copy(map.bytes(), 0, values, place(TensorMap.BYTES, TensorMap.ALIGNMENT), TensorMap.BYTES);
        return this;
    }

    /** The dtype's code as kernels know it. */
    public Arguments type(DType dtype) {
        return i32(TypeCode.of(dtype));
    }

    public Arguments type(Optional<Tensor> t) {
        return i32(t.map(x -> TypeCode.of(x.dtype())).orElse(0));
    }

    /** Pointers to the arguments, as the driver wants them. */
    MemorySegment pointers() {
        return pointers;
    }

    @Override
    public void close() {
        if (arena.scope().isAlive()) {
            arena.close();
        }
    }
}
