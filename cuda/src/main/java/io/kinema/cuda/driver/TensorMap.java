package io.kinema.cuda.driver;

import io.kinema.weights.DType;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Owns the description of one matrix in device memory, or of the heads of an operand of attention, for the tensor copy engine of SM90, until it
 * is closed; closing twice is harmless. The engine copies boxes of some rows by {@link #BOX_BYTES} bytes, swizzled by as many, in either
 * direction; where the matrix or head has ended it reads zeros and writes nothing. It can be described anew as often as wanted; a launch copies
 * the description.
 */
public final class TensorMap implements AutoCloseable {
    /** Size of a description. */
    public static final long BYTES = 128;
    /** Alignment of a description among a kernel's parameters. */
    public static final long ALIGNMENT = 64;
    public static final int BOX_BYTES = 128;

    /** What a stride must divide by, and an address, and where strides end. */
    public static final int STEP_BYTES = 16;
    public static final long END_OF_STRIDES_BYTES = 1L << 40;

    private static final int MOST_AXES = 3;
    private static final int FLOAT16 = 6;
    private static final int FLOAT32 = 7;
    private static final int BFLOAT16 = 9;
    private static final int SWIZZLE_128 = 3;
    private static final int PROMOTE_128 = 2;

    private final GpuContext context;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment bytes = arena.allocate(BYTES, BYTES);
    private final MemorySegment sizes = arena.allocate(ValueLayout.JAVA_LONG, MOST_AXES);
    private final MemorySegment strides = arena.allocate(ValueLayout.JAVA_LONG, MOST_AXES - 1);
    private final MemorySegment box = arena.allocate(ValueLayout.JAVA_INT, MOST_AXES);
    private final MemorySegment steps = arena.allocateFrom(ValueLayout.JAVA_INT, 1, 1, 1);

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
        axis(0, columns, 1, BOX_BYTES / type.bytes(), type);
        axis(1, rows, stride, boxRows, type);
        return encode("matrix of " + rows + "x" + columns, address, type, 2);
    }

    /**
     * Where an operand of attention [rows, heads, channels] lies; none of the sizes is 0.
     *
     * @param address    a multiple of 16
     * @param type       F16 or BF16
     * @param rowStride  elements from row to row, a multiple of 16 bytes and below 2^40 of them
     * @param headStride elements from head to head, likewise
     */
    public record Heads(long address, DType type, long rows, long heads, long channels, long rowStride, long headStride) {
    }

    /** Describes heads. @param boxRows rows of one head copied at once, 1 to 256 */
    public TensorMap describe(Heads h, int boxRows) {
        axis(0, h.channels(), 1, BOX_BYTES / h.type().bytes(), h.type());
        axis(1, h.heads(), h.headStride(), 1, h.type());
        axis(2, h.rows(), h.rowStride(), boxRows, h.type());
        return encode(h.toString(), h.address(), h.type(), 3);
    }

    /** The innermost axis is 0; its stride is one element and not told. */
    private void axis(int i, long size, long stride, int boxSize, DType type) {
        sizes.setAtIndex(ValueLayout.JAVA_LONG, i, size);
        box.setAtIndex(ValueLayout.JAVA_INT, i, boxSize);
        if (i > 0) {
            strides.setAtIndex(ValueLayout.JAVA_LONG, i - 1, stride * type.bytes());
        }
    }

    private TensorMap encode(String what, long address, DType type, int axes) {
        context.check("cuTensorMapEncodeTiled of " + what, () -> (int) context.symbols().tensorMapEncodeTiled().invokeExact(bytes,
                code(type), axes, address, sizes, strides, box, steps, 0, SWIZZLE_128, PROMOTE_128, 0));
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
