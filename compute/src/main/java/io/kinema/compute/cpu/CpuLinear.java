package io.kinema.compute.cpu;

import io.kinema.compute.DenseWeight;
import io.kinema.compute.Device;
import io.kinema.compute.EncodedWeight;
import io.kinema.compute.Int8Weight;
import io.kinema.compute.LinearEpilogue;
import io.kinema.compute.LinearOps;
import io.kinema.compute.Operand;
import io.kinema.compute.Rotation;
import io.kinema.compute.RowScale;
import io.kinema.compute.Tensor;
import io.kinema.compute.Weight;
import io.kinema.compute.Workspace;
import io.kinema.weights.DType;
import io.kinema.weights.Shape;
import java.lang.foreign.MemorySegment;
import java.util.Optional;

/**
 * Matrix products by OpenBLAS. Owns scratch for widened operands until it is closed: 16-bit weights are widened
 * {@link #WEIGHT_FLOATS} at a time, never a whole large matrix.
 */
final class CpuLinear implements LinearOps, AutoCloseable {
    /** 4 MiB of FP32 weights. */
    private static final int WEIGHT_FLOATS = 1 << 20;
    private static final int WEIGHT_BLOCK = 0;
    private static final int INPUT_BLOCK = 1;

    private final WorkerPool pool;
    private final Widening widening;
    private final WeightDecoding decoding;
    private final RowRotation rotation;
    private final Scratch shared = new Scratch();

    CpuLinear(WorkerPool pool) {
        this.pool = pool;
        this.widening = new Widening(pool);
        this.decoding = new WeightDecoding(pool);
        this.rotation = new RowRotation(pool);
    }

    /** Bytes of its own scratch memory. */
    long scratchBytes() {
        return shared.size();
    }

    @Override
    public void close() {
        shared.close();
    }

    @Override
    public void linear(Operand x, Weight w, LinearEpilogue after, Tensor out) {
        if (out.elements() == 0) {
            return;
        }
        Matrix rows = inputRows(x.values());
        Epilogue epilogue = Epilogue.of(x.rowScale(), after);
        DType operand = x.values().dtype();
        switch (w) {
            case DenseWeight dense -> dense(rows, dense.values(), epilogue, out);
            case Int8Weight int8 -> inParts(rows, w, true, epilogue, out, (from, to, wide) -> decoding.rows(int8, from, to, operand, wide));
            case EncodedWeight encoded -> inParts(rows, w, true, epilogue, out, (from, to, wide) -> decoding.rows(encoded, from, to, operand, wide));
        }
    }

    private Matrix inputRows(Tensor x) {
        if (x.dtype() == DType.F32 && Matrix.readable(x)) {
            return Matrix.of(x);
        }
        MemorySegment wide = shared.block(INPUT_BLOCK, x.elements());
        widening.rows(x, wide);
        return new Matrix(wide, Math.max(1, x.size(1)));
    }

    private void dense(Matrix x, Tensor w, Epilogue epilogue, Tensor out) {
        int k = w.size(1);
        boolean rowMajor = k <= 1 || w.stride(1) == 1;
        if (w.dtype() == DType.F32 && readable(w, rowMajor)) {
            product(x, Matrix.of(rowMajor ? w : w.permute(1, 0)), rowMajor, k, epilogue, out);
            return;
        }
        inParts(x, new DenseWeight(w), rowMajor, epilogue, out, (from, to, wide) -> {
            Tensor part = w.rows(from, to);
            widening.rows(rowMajor ? part : part.permute(1, 0), wide);
        });
    }

    /** Writes rows [from, to) of a weight to {@code wide} as FP32, row- or column-major. */
    @FunctionalInterface
    private interface PartOfWeight {
        void write(int from, int to, MemorySegment wide);
    }

    /** The product with a weight that is not FP32: so many of its rows at a time as {@link #WEIGHT_FLOATS} holds, at least one. */
    private void inParts(Matrix x, Weight w, boolean rowMajor, Epilogue epilogue, Tensor out, PartOfWeight part) {
        int n = w.outFeatures();
        int k = w.inFeatures();
        int each = Math.clamp(WEIGHT_FLOATS / Math.max(1, k), 1, n);
        for (int first = 0; first < n; first += each) {
            int last = Math.min(n, first + each);
            MemorySegment wide = shared.block(WEIGHT_BLOCK, (long) (last - first) * k);
            part.write(first, last, wide);
            Matrix b = new Matrix(wide, Math.max(1, rowMajor ? k : last - first));
            product(x, b, rowMajor, k, epilogue.from(first), out.slice(1, first, last));
        }
    }

    private static boolean readable(Tensor w, boolean rowMajor) {
        return Matrix.readable(rowMajor ? w : w.permute(1, 0));
    }

    /** {@code out = epilogue(x * w^T)}, tile by tile. */
    private void product(Matrix x, Matrix w, boolean rowMajor, int k, Epilogue epilogue, Tensor out) {
        GemmTiles tiles = GemmTiles.of(out.size(0), out.size(1), k);
        boolean direct = out.dtype() == DType.F32 && Matrix.readable(out);
        pool.run(tiles.count(), (i, scratch) -> {
            int row = tiles.row(i);
            int rows = tiles.rowCount(i);
            int column = tiles.column(i);
            int columns = tiles.columnCount(i);
            Tensor to = out.slice(0, row, row + rows).slice(1, column, column + columns);
            Tensor tile = direct ? to : Tensor.of(DType.F32, Shape.of(rows, columns), scratch.block(0, (long) rows * columns), Device.CPU);
            Matrix a = x.from(row, 0);
            Matrix b = rowMajor ? w.from(column, 0) : w.from(0, column);
            Matrix c = direct ? new Matrix(to.data(), Matrix.pitch(out.size(0), out.stride(0), columns)) : Matrix.of(tile);
            OpenBlas.sgemm(rowMajor, rows, columns, k, 1, a.data(), a.ld(), b.data(), b.ld(), 0, c.data(), c.ld());
            if (!direct || !epilogue.empty()) {
                epilogue.from(column).apply(tile, row, to, scratch);
            }
        });
    }

    @Override
    public Operand prepare(Tensor x, DType target, Workspace ws) {
        if (x.dtype() == target) {
            return Operand.of(x);
        }
        int k = x.size(1);
        Tensor values = ws.allocate(target, x.size(0), k);
        Optional<Tensor> scales = target == DType.F16 ? Optional.of(ws.f32(x.size(0))) : Optional.empty();
        Rows from = Rows.of(x);
        Rows to = Rows.of(values);
        Blocks blocks = Blocks.ofWholeRows(from.count(), k);
        pool.run(blocks.count(), (i, scratch) -> {
            int rows = blocks.rowCount(i);
            float[] a = scratch.floats(0, rows * k);
            from.read(scratch, blocks.row(i), rows, a);
            scales.ifPresent(s -> scaleRows(a, rows, k, s.rows(blocks.row(i), blocks.row(i) + rows)));
            to.write(scratch, blocks.row(i), rows, a);
        });
        return new Operand(values, scales);
    }

    @Override
    public Operand rotate(Operand x, Rotation by, Workspace ws) {
        Tensor rotated = ws.allocate(x.values().dtype(), x.values().shape().toArray());
        rotation.apply(x.values(), by, rotated);
        return new Operand(rotated, x.rowScale(), Optional.of(by));
    }

    /** Divides each row by its power of two, which is exact but for underflow, and notes the factor. */
    private static void scaleRows(float[] a, int rows, int k, Tensor scales) {
        for (int r = 0; r < rows; r++) {
            float scale = RowScale.of(PlainLoops.largestMagnitude(a, r * k, k));
            scales.data().set(Rows.F32, (long) r * Float.BYTES, scale);
            PlainLoops.scale(a, r * k, k, 1 / scale);
        }
    }
}
