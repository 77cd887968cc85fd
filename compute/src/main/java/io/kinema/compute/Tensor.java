package io.kinema.compute;

import io.kinema.weights.DType;
import io.kinema.weights.Shape;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * A strided view of memory that somebody else owns (a {@link Workspace}, a checkpoint's map, an arena): it never frees.
 * Strides count elements. Views share memory; no method copies unless it says so.
 * Host tensors can be read and written element-wise for tests and small tables; device tensors cannot.
 */
public final class Tensor {
    private static final ValueLayout.OfFloat F32 = ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfDouble F64 = ValueLayout.JAVA_DOUBLE_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfInt I32 = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfLong I64 = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfShort I16 = ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private final DType dtype;
    private final Shape shape;
    private final long[] strides;
    private final MemorySegment data;
    private final Device device;

    private Tensor(DType dtype, Shape shape, long[] strides, MemorySegment data, Device device) {
        this.dtype = dtype;
        this.shape = shape;
        this.strides = strides;
        this.data = data;
        this.device = device;
    }

    /** A contiguous row-major tensor over the first {@code shape.elements()} elements of {@code data}. */
    public static Tensor of(DType dtype, Shape shape, MemorySegment data, Device device) {
        long need = shape.elements() * dtype.bytes();
        if (data.byteSize() < need) {
            throw new IllegalArgumentException("tensor " + dtype + shape + ": got " + data.byteSize() + " bytes, expected " + need);
        }
        return new Tensor(dtype, shape, rowMajor(shape), data.asSlice(0, need), device);
    }

    /** A contiguous FP32 host tensor that holds a copy of {@code values} on the Java heap; for tables and tests. */
    public static Tensor ofFloats(float[] values, long... dims) {
        Tensor t = heap(DType.F32, Shape.of(dims), values.length);
        MemorySegment.copy(values, 0, t.data, F32, 0, values.length);
        return t;
    }

    /** A contiguous I32 host tensor that holds a copy of {@code values} on the Java heap; for index tables. */
    public static Tensor ofInts(int[] values, long... dims) {
        Tensor t = heap(DType.I32, Shape.of(dims), values.length);
        MemorySegment.copy(values, 0, t.data, I32, 0, values.length);
        return t;
    }

    private static Tensor heap(DType dtype, Shape shape, int length) {
        if (shape.elements() != length) {
            throw new IllegalArgumentException("tensor " + dtype + shape + ": got " + length + " values, expected " + shape.elements());
        }
        // Native memory, collected with the tensor: kernels then see one kind of segment only.
        return of(dtype, shape, java.lang.foreign.Arena.ofAuto().allocate(Math.max(1, (long) length * dtype.bytes()), 64), Device.CPU);
    }

    /** The same view (dtype, shape, strides) of other memory, whose first byte is this view's first element. */
    public Tensor at(MemorySegment other, Device where) {
        return new Tensor(dtype, shape, strides.clone(), other, where);
    }

    public DType dtype() {
        return dtype;
    }

    public Shape shape() {
        return shape;
    }

    public Device device() {
        return device;
    }

    /** Size of axis {@code i} (negative counts from the end) as an int. */
    public int size(int i) {
        return shape.size(i);
    }

    public int rank() {
        return shape.rank();
    }

    public long elements() {
        return shape.elements();
    }

    /** Elements between neighbours along axis {@code i} (negative counts from the end). */
    public long stride(int i) {
        return strides[i < 0 ? strides.length + i : i];
    }

    /** The memory from this view's first element on; longer than the view when it is strided. On a device the address is not readable here. */
    public MemorySegment data() {
        return data;
    }

    /** True when elements lie row-major without gaps. */
    public boolean contiguous() {
        long expected = 1;
        for (int i = strides.length - 1; i >= 0; i--) {
            if (shape.dim(i) != 1 && strides[i] != expected) {
                return false;
            }
            expected *= shape.dim(i);
        }
        return true;
    }

    /** The same elements in another shape. @throws IllegalArgumentException when not contiguous or the counts differ; one size may be -1 */
    public Tensor reshape(long... dims) {
        long[] d = dims.clone();
        long known = 1;
        int free = -1;
        for (int i = 0; i < d.length; i++) {
            if (d[i] == -1) {
                free = i;
            } else {
                known *= d[i];
            }
        }
        if (free >= 0) {
            d[free] = known == 0 ? 0 : elements() / known;
        }
        Shape s = Shape.of(d);
        if (!contiguous() || s.elements() != elements()) {
            throw new IllegalArgumentException("reshape: got " + this + ", expected a contiguous tensor of " + s.elements() + " elements for " + s);
        }
        return new Tensor(dtype, s, rowMajor(s), data, device);
    }

    /** Splits the last axis of size a*b into (a, b) without copying; works on strided rows. */
    public Tensor splitLast(long a, long b) {
        int r = rank();
        if (shape.dim(-1) != a * b) {
            throw new IllegalArgumentException("splitLast: got " + this + ", expected a last axis of " + a * b);
        }
        long[] d = Arrays.copyOf(shape.toArray(), r + 1);
        long[] s = Arrays.copyOf(strides, r + 1);
        d[r - 1] = a;
        d[r] = b;
        s[r] = strides[r - 1];
        s[r - 1] = strides[r - 1] * b;
        return new Tensor(dtype, Shape.of(d), s, data, device);
    }

    /** Elements [from, to) of axis {@code dim}. */
    public Tensor slice(int dim, long from, long to) {
        int i = dim < 0 ? rank() + dim : dim;
        if (from < 0 || to < from || to > shape.dim(i)) {
            throw new IndexOutOfBoundsException("slice [" + from + ", " + to + ") of axis " + i + " of " + this);
        }
        long[] d = shape.toArray();
        d[i] = to - from;
        long skip = Math.min(from * strides[i] * dtype.bytes(), data.byteSize());
        return new Tensor(dtype, Shape.of(d), strides.clone(), data.asSlice(skip), device);
    }

    /** Rows [from, to) of the first axis. */
    public Tensor rows(long from, long to) {
        return slice(0, from, to);
    }

    /** Element {@code index} of axis {@code dim}, which disappears. */
    public Tensor select(int dim, long index) {
        int i = dim < 0 ? rank() + dim : dim;
        Tensor one = slice(i, index, index + 1);
        long[] d = new long[rank() - 1];
        long[] s = new long[rank() - 1];
        for (int j = 0, k = 0; j < rank(); j++) {
            if (j != i) {
                d[k] = shape.dim(j);
                s[k++] = strides[j];
            }
        }
        return new Tensor(dtype, Shape.of(d), s, one.data, device);
    }

    /** Axes in another order: result axis i is this axis {@code axes[i]}. */
    public Tensor permute(int... axes) {
        long[] d = new long[axes.length];
        long[] s = new long[axes.length];
        for (int i = 0; i < axes.length; i++) {
            d[i] = shape.dim(axes[i]);
            s[i] = strides[axes[i]];
        }
        return new Tensor(dtype, Shape.of(d), s, data, device);
    }

    /** Host only: one element widened to double (BOOL as 0 or 1). */
    public double get(long... index) {
        requireHost();
        long at = offset(index) * dtype.bytes();
        return switch (dtype) {
            case F32 -> data.get(F32, at);
            case F64 -> data.get(F64, at);
            case F16 -> Float.float16ToFloat(data.get(I16, at));
            case BF16 -> Float.intBitsToFloat(data.get(I16, at) << 16);
            case I64, U64 -> data.get(I64, at);
            case I32 -> data.get(I32, at);
            case U32 -> Integer.toUnsignedLong(data.get(I32, at));
            case I16 -> data.get(I16, at);
            case U16 -> Short.toUnsignedInt(data.get(I16, at));
            case I8 -> data.get(ValueLayout.JAVA_BYTE, at);
            case U8, BOOL -> Byte.toUnsignedInt(data.get(ValueLayout.JAVA_BYTE, at));
            case F8_E4M3, F8_E5M2 -> throw new IllegalArgumentException("get: " + dtype + " is decoded by io.kinema.weights");
        };
    }

    /** Host only: all elements in row-major order, widened or rounded to float. */
    public float[] toFloats() {
        requireHost();
        int n = Math.toIntExact(elements());
        float[] out = new float[n];
        if (contiguous() && dtype == DType.F32) {
            MemorySegment.copy(data, F32, 0, out, 0, n);
            return out;
        }
        long[] index = new long[rank()];
        for (int i = 0; i < n; i++) {
            out[i] = (float) get(index);
            for (int d = rank() - 1; d >= 0 && ++index[d] == shape.dim(d); d--) {
                index[d] = 0;
            }
        }
        return out;
    }

    private long offset(long[] index) {
        if (index.length != rank()) {
            throw new IllegalArgumentException("index " + Arrays.toString(index) + " of " + this);
        }
        long at = 0;
        for (int i = 0; i < index.length; i++) {
            if (index[i] < 0 || index[i] >= shape.dim(i)) {
                throw new IndexOutOfBoundsException("index " + Arrays.toString(index) + " of " + this);
            }
            at += index[i] * strides[i];
        }
        return at;
    }

    private void requireHost() {
        if (device.kind() != Device.Kind.CPU) {
            throw new IllegalStateException(this + ": only host tensors can be read directly, download it first");
        }
    }

    private static long[] rowMajor(Shape shape) {
        long[] s = new long[shape.rank()];
        long step = 1;
        for (int i = s.length - 1; i >= 0; i--) {
            s[i] = step;
            step *= shape.dim(i);
        }
        return s;
    }

    @Override
    public String toString() {
        return dtype + shape.toString() + (contiguous() ? "" : " strides " + Arrays.toString(strides)) + " on " + device;
    }
}
