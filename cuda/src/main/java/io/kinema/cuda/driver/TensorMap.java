package io.kinema.cuda.driver;

import io.kinema.weights.DType;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Owns the description of one matrix in device memory for the tensor copy engine of SM90, until it is closed; closing twice is
 * harmless. The engine copies boxes of some rows by {@link #BOX_BYTES} bytes, swizzled by as many, in either direction; where the matrix has
 * ended it reads zeros and writes nothing. It can be described anew as often as wanted; a launch copies the description.
 */
public final class TensorMap implements AutoCloseable {
    /** Size of a description. */
    public static final long BYTES = 128;
    /** Alignment of a description among a kernel's parameters. */
    public static final long ALIGNMENT = 64;
    public static final int BOX_BYTES = 128;

    private static final int FLOAT16 = 6;
    private static final int FLOAT32 = 7;
    private static final int BFLOAT16 = 9;
    private static final int SWIZZLE_128 = 3;
    private static final int PROMOTE_128 = 2;

    private final GpuContext context;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment bytes = arena.allocate(BYTES, BYTES);
    private final MemorySegment sizes = arena.allocate(ValueLayout.JAVA_LONG, 2);
    private final MemorySegment strides = arena.allocate(ValueLayout.JAVA_LONG, 1);
    private final MemorySegment box = arena.allocate(ValueLayout.JAVA_INT, 2);
    private final MemorySegment steps = arena.allocateFrom(ValueLayout.JAVA_INT, 1, 1);

    public TensorMap(GpuContext context) {
        this.context = context;
    }

    /**
     * Describes a matrix.
     *
     * @param address a multiple of 16
     * @param type    F32, F16 or BF16
     * @param stride  elements from row to row, a multiple of 16 bytes
     * @param boxRows rows copied at once, 1 to 256
     */
    public TensorMap describe(long address, DType type, long rows, long columns, long stride, int boxRows) {
        sizes.setAtIndex(ValueLayout.JAVA_LONG, 0, columns);
        sizes.setAtIndex(ValueLayout.JAVA_LONG, 1, rows);
        strides.set(ValueLayout.JAVA_LONG, 0, stride * type.bytes());
        box.setAtIndex(ValueLayout.JAVA_INT, 0, BOX_BYTES / type.bytes());
        box.setAtIndex(ValueLayout.JAVA_INT, 1, boxRows);
        context.check("cuTensorMapEncodeTiled of " + rows + "x" + columns, () -> (int) context.symbols().tensorMapEncodeTiled().invokeExact(bytes,
                code(type), 2, address, sizes, strides, box, steps, 0, SWIZZLE_128, PROMOTE_128, 0));
        return this;
    }

    private static int code(DType type) {
        return switch (type) {
            case F32 -> FLOAT32;
            case F16 -> FLOAT16;
            case BF16 -> BFLOAT16;
            default -> throw new IllegalArgumentException("tensor map: got " + type + ", expected F32, F16 or BF16");
        };
    }

    /** The description. */
    public MemorySegment bytes() {
        return bytes;
    }

    @Override
    public void close() {
        if (arena.scope().isAlive()) {
            arena.close();
        }
    }
}
