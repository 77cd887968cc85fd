package io.kinema.weights;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

/**
 * Owns FP32 copies of tensors that are stored coded, each made when it is first asked for, until it is closed. For the few
 * readers that want plain elements (biases, small projections): matrices are read as {@link StoredMatrix}. Closing twice is harmless.
 */
final class DecodedTensors implements AutoCloseable {
    private static final int ROWS_BYTES = 1 << 22;
    private static final long ALIGNMENT = 64;

    private final Arena arena = Arena.ofShared();
    private final Map<String, StoredTensor> copies = new ConcurrentHashMap<>();
    private boolean closed;

    /** @param source the tensor as a matrix whose rows lie along its last axis */
    StoredTensor of(String name, Function<String, ? extends StoredMatrix> source, Shape shape) {
        return copies.computeIfAbsent(name, n -> decode(source.apply(n), shape));
    }

    private StoredTensor decode(StoredMatrix matrix, Shape shape) {
        MemorySegment out = arena.allocate(Math.max(1, shape.elements() * Float.BYTES), ALIGNMENT).asSlice(0, shape.elements() * Float.BYTES);
        int columns = Math.toIntExact(matrix.columns());
        long step = Math.max(1, ROWS_BYTES / Float.BYTES / Math.max(1, columns));
        float[] part = new float[Math.toIntExact(Math.min(step, matrix.rows()) * columns)];
        for (long row = 0; row < matrix.rows(); row += step) {
            long end = Math.min(row + step, matrix.rows());
            MatrixValues.decode(matrix, row, end, part, 0);
            long values = (end - row) * columns;
            MemorySegment.copy(MemorySegment.ofArray(part), 0, out, row * columns * Float.BYTES, values * Float.BYTES);
        }
        return new StoredTensor(matrix.name(), DType.F32, shape, out.asReadOnly(), matrix.file());
    }

    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            arena.close();
        }
    }
}
