package io.kinema.engine.convert;

import io.kinema.weights.BadWeightsException;
import io.kinema.weights.DType;
import io.kinema.weights.FloatConversion;
import io.kinema.weights.MatrixValues;
import io.kinema.weights.Shape;
import io.kinema.weights.StoredTensor;
import io.kinema.weights.TensorHeader;
import io.kinema.weights.TensorSource;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Optional;
import java.util.function.Consumer;

/** Reads tensors of a source some rows at a time, in another dtype, so that a file of any size passes through little memory. */
final class TensorStream {
    /** Values of a piece. */
    private static final long PIECE = 1 << 22;
    private static final float LARGEST_F16 = 65504;
    private static final ValueLayout.OfFloat F32 = ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private final TensorSource source;

    TensorStream(TensorSource source) {
        this.source = source;
    }

    /** The dtype of plain elements; empty for a coded matrix. */
    Optional<DType> dtype(String name) {
        return header(name).dtype();
    }

    TensorHeader header(String name) {
        return source.header(name).orElseThrow(() -> new BadWeightsException(source.origin() + ": no tensor " + name));
    }

    /**
     * Hands over the tensor's bytes, piece by piece.
     *
     * @param to the dtype wanted: the tensor's own, or F32, BF16 or F16; values are rounded once to nearest even
     * @throws BadWeightsException when a value cannot be held by a narrower dtype, naming the tensor and the element
     */
    void read(String name, DType to, Consumer<MemorySegment> sink) {
        TensorHeader header = header(name);
        Shape shape = header.shape();
        if (shape.rank() == 0 || shape.dim(0) == 0) {
            sink.accept(converted(source.get(name), to, 0));
            return;
        }
        long width = Math.max(1, shape.elements() / shape.dim(0));
        long step = Math.max(1, PIECE / width);
        for (long row = 0; row < shape.dim(0); row += step) {
            long end = Math.min(shape.dim(0), row + step);
            sink.accept(header.dtype().isPresent() ? converted(source.rows(name, row, end), to, row * width) : decoded(name, row, end, width, to));
        }
    }

    /** Rows of a matrix as floats, as they were trained. */
    float[] floats(String name, long from, long to) {
        long width = header(name).shape().dim(1);
        float[] values = new float[Math.toIntExact((to - from) * width)];
        for (long row = from; row < to; ) {
            long end = source.runEnd(name, row, to);
            MatrixValues.decode(source.matrix(name, row, end), 0, end - row, values, Math.toIntExact((row - from) * width));
            row = end;
        }
        return values;
    }

    private MemorySegment decoded(String name, long from, long to, long width, DType dtype) {
        MemorySegment bytes = MemorySegment.ofArray(new byte[Math.toIntExact((to - from) * width * Float.BYTES)]);
        float[] values = floats(name, from, to);
        for (int i = 0; i < values.length; i++) {
            bytes.setAtIndex(F32, i, values[i]);
        }
        return converted(new StoredTensor(name, DType.F32, Shape.of(to - from, width), bytes, header(name).file()), dtype, from * width);
    }

    private static MemorySegment converted(StoredTensor tensor, DType to, long first) {
        if (tensor.dtype() == to) {
            return tensor.data();
        }
        long count = tensor.shape().elements();
        MemorySegment out = MemorySegment.ofArray(new byte[Math.toIntExact(count * to.bytes())]);
        FloatConversion.convert(tensor.dtype(), tensor.data(), to, out, count);
        if (to.bytes() < tensor.dtype().bytes() || to == DType.F16) {
            requireHeld(tensor, to, out, first);
        }
        return out;
    }

    private static void requireHeld(StoredTensor tensor, DType to, MemorySegment out, long first) {
        for (long i = 0; i < tensor.shape().elements(); i++) {
            // What lies half a step above the largest would be rounded down to it; loading refuses such weights too.
            boolean held = Double.isFinite(FloatConversion.toDouble(to, out, i))
                    && (to != DType.F16 || Math.abs(FloatConversion.toDouble(tensor.dtype(), tensor.data(), i)) <= LARGEST_F16);
            if (!held) {
                throw new BadWeightsException(tensor.file() + ": tensor " + tensor.name() + " element " + (first + i) + " is "
                        + FloatConversion.toDouble(tensor.dtype(), tensor.data(), i) + ", expected a finite value"
                        + (to == DType.F16 ? " within +-" + LARGEST_F16 : "") + " for " + to + "; keep a wider --dtype");
            }
        }
    }
}
