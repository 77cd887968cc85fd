package io.kinema.cuda.driver;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Owns the description of one matrix of 16-bit floats in device memory for the tensor copy engine of SM90, until it is closed; closing
 * twice is harmless. The engine copies boxes of {@link #BOX_ROWS} rows by {@link #BOX_COLUMNS} columns, swizzled by 128 bytes, with zeros
 * where the matrix has ended. It can be described anew as often as wanted; a launch copies the description.
 */
public final class TensorMap implements AutoCloseable {
    /** Size of a description. */
    public static final long BYTES = 128;
    /** Alignment of a description among a kernel's parameters. */
    public static final long ALIGNMENT = 64;
    public static final int BOX_ROWS = 128;
    public static final int BOX_COLUMNS = 64;

    private static final int FLOAT16 = 6;
    private static final int BFLOAT16 = 9;
    private static final int SWIZZLE_128 = 3;
    private static final int PROMOTE_128 = 2;
    private static final int ELEMENT_BYTES = 2;

    private final GpuContext context;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment bytes = arena.allocate(BYTES, BYTES);
    private final MemorySegment sizes = arena.allocate(ValueLayout.JAVA_LONG, 2);
    private final MemorySegment strides = arena.allocate(ValueLayout.JAVA_LONG, 1);
    private final MemorySegment box = arena.allocateFrom(ValueLayout.JAVA_INT, BOX_COLUMNS, BOX_ROWS);
    private final MemorySegment steps = arena.allocateFrom(ValueLayout.JAVA_INT, 1, 1);

    public TensorMap(GpuContext context) {
        this.context = context;
    }

    /**
     * Describes a matrix.
     *
     * @param address a multiple of 16
     * @param brain   BF16, else FP16
     * @param stride  elements from row to row, a multiple of 8
     */
    public TensorMap describe(long address, boolean brain, long rows, long columns, long stride) {
        sizes.setAtIndex(ValueLayout.JAVA_LONG, 0, columns);
        sizes.setAtIndex(ValueLayout.JAVA_LONG, 1, rows);
        strides.set(ValueLayout.JAVA_LONG, 0, stride * ELEMENT_BYTES);
        context.check("cuTensorMapEncodeTiled of " + rows + "x" + columns, () -> (int) context.symbols().tensorMapEncodeTiled().invokeExact(bytes,
                brain ? BFLOAT16 : FLOAT16, 2, address, sizes, strides, box, steps, 0, SWIZZLE_128, PROMOTE_128, 0));
        return this;
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
