package io.kinema.engine.verify;

import io.kinema.compute.Device;
import io.kinema.compute.Tensor;
import io.kinema.weights.DType;
import io.kinema.weights.FloatConversion;
import io.kinema.weights.Shape;
import io.kinema.weights.StoredTensor;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.DoubleBuffer;
import java.util.Arrays;

/**
 * A result to compare: values in row-major order with a shape, on the Java heap. Every dtype is widened to double, which is
 * exact for all of them but integers beyond 2^53. Treated as immutable.
 */
final class Values {
    private final DType dtype;
    private final Shape shape;
    private final double[] values;

    private Values(DType dtype, Shape shape, double[] values) {
        if (shape.elements() != values.length) {
            throw new IllegalArgumentException("values: got " + values.length + ", expected " + shape.elements() + " for " + shape);
        }
        this.dtype = dtype;
        this.shape = shape;
        this.values = values;
    }

    static Values of(StoredTensor stored) {
        return new Values(stored.dtype(), stored.shape(), FloatConversion.toDoubles(stored));
    }

    /** A copy of a host tensor, whatever its strides. */
    static Values of(Tensor tensor) {
        if (tensor.device().kind() != Device.Kind.CPU) {
            throw new IllegalStateException("values: got " + tensor + ", expected a host tensor");
        }
        double[] out = new double[Math.toIntExact(tensor.elements())];
        long[] index = new long[tensor.rank()];
        for (int i = 0; i < out.length; i++) {
            out[i] = tensor.get(index);
            for (int d = index.length - 1; d >= 0 && ++index[d] == tensor.shape().dim(d); d--) {
                index[d] = 0;
            }
        }
        return new Values(tensor.dtype(), tensor.shape(), out);
    }

    static Values floats(float[] values, long... dims) {
        double[] wide = new double[values.length];
        for (int i = 0; i < wide.length; i++) {
            wide[i] = values[i];
        }
        return new Values(DType.F32, Shape.of(dims), wide);
    }

    static Values doubles(double[] values, long... dims) {
        return new Values(DType.F64, Shape.of(dims), values.clone());
    }

    static Values longs(long[] values, long... dims) {
        return new Values(DType.I64, Shape.of(dims), Arrays.stream(values).asDoubleStream().toArray());
    }

    /** Integers that the cases store as I64. */
    static Values ints(int[] values, long... dims) {
        return new Values(DType.I64, Shape.of(dims), Arrays.stream(values).asDoubleStream().toArray());
    }

    /** Unsigned bytes. */
    static Values bytes(byte[] values, long... dims) {
        double[] wide = new double[values.length];
        for (int i = 0; i < wide.length; i++) {
            wide[i] = Byte.toUnsignedInt(values[i]);
        }
        return new Values(DType.U8, Shape.of(dims), wide);
    }

    DType dtype() {
        return dtype;
    }

    Shape shape() {
        return shape;
    }

    int count() {
        return values.length;
    }

    double at(int i) {
        return values[i];
    }

    float[] toFloats() {
        float[] out = new float[values.length];
        for (int i = 0; i < out.length; i++) {
            out[i] = (float) values[i];
        }
        return out;
    }

    int[] toInts() {
        int[] out = new int[values.length];
        for (int i = 0; i < out.length; i++) {
            out[i] = Math.toIntExact((long) values[i]);
        }
        return out;
    }

    double[] toDoubles() {
        return values.clone();
    }

    /** The low byte of every value. */
    byte[] toBytes() {
        byte[] out = new byte[values.length];
        for (int i = 0; i < out.length; i++) {
            out[i] = (byte) (int) values[i];
        }
        return out;
    }

    /** FP32 values as a host tensor of this shape. */
    Tensor toTensor() {
        return Tensor.ofFloats(toFloats(), shape.toArray());
    }

    /** The little-endian bytes of the contiguous tensor, for F64, F32, I64 and U8: what a case's sha256 covers. */
    byte[] littleEndian() {
        ByteBuffer out = ByteBuffer.allocate(Math.multiplyExact(values.length, dtype.bytes())).order(ByteOrder.LITTLE_ENDIAN);
        switch (dtype) {
            case F64 -> out.asDoubleBuffer().put(DoubleBuffer.wrap(values));
            case F32 -> out.asFloatBuffer().put(toFloats());
            case I64 -> out.asLongBuffer().put(Arrays.stream(values).mapToLong(v -> (long) v).toArray());
            case U8 -> out.put(toBytes());
            default -> throw new IllegalStateException("bytes of " + dtype + " are not asked for by any case");
        }
        return out.array();
    }

    /** The same values in another shape. */
    Values reshaped(long... dims) {
        return new Values(dtype, Shape.of(dims), values);
    }

    /** Elements of one axis by index, in the given order. */
    Values pick(int axis, int[] indices) {
        int inner = 1;
        for (int i = axis + 1; i < shape.rank(); i++) {
            inner *= shape.size(i);
        }
        int size = shape.size(axis);
        int outer = size == 0 ? 0 : values.length / (inner * size);
        double[] out = new double[outer * indices.length * inner];
        int at = 0;
        for (int o = 0; o < outer; o++) {
            for (int index : indices) {
                System.arraycopy(values, (o * size + index) * inner, out, at, inner);
                at += inner;
            }
        }
        long[] dims = shape.toArray();
        dims[axis] = indices.length;
        return new Values(dtype, Shape.of(dims), out);
    }

    @Override
    public String toString() {
        return dtype + shape.toString();
    }
}
