package io.kinema.engine.convert;

import io.kinema.model.layout.StoredLayout.Target;
import io.kinema.weights.BadWeightsException;
import io.kinema.weights.Int8Rows;
import io.kinema.weights.TensorSource;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.Callable;

/**
 * One stored matrix as INT8. Rows are coded one by one, so those of its parts are coded as they are read and then put where the
 * layout wants them.
 *
 * @param source under the names that the network reads
 * @param group  width of the rotated groups; empty for none
 */
record Int8Target(TensorSource source, Target target, OptionalInt group) {
    /** Values of a piece of work. */
    private static final long PIECE = 1 << 20;

    /** A part of the matrix, coded. */
    private record Piece(String name, long row, Int8Rows rows) {
    }

    /** @throws BadWeightsException when a value is not finite, naming the tensor */
    Int8Rows rows(Workers workers) {
        long columns = target.shape().dim(1);
        long step = Math.max(1, PIECE / columns);
        List<Callable<Piece>> work = new ArrayList<>();
        for (String name : target.names()) {
            long rows = new TensorStream(source).header(name).shape().dim(0);
            for (long row = 0; row < rows; row += step) {
                long from = row;
                long to = Math.min(rows, row + step);
                work.add(() -> new Piece(name, from, coded(name, from, to, Math.toIntExact(columns))));
            }
        }
        return assembled(workers.all(work));
    }

    private Int8Rows coded(String name, long from, long to, int columns) {
        try {
            return Int8Rows.of(new TensorStream(source).floats(name, from, to), columns, group);
        } catch (IllegalArgumentException e) {
            throw new BadWeightsException(source.origin() + ": tensor " + name + " rows " + from + " to " + (to - 1) + ": " + e.getMessage()
                    + "; the file is damaged, fetch it again", e);
        }
    }

    private Int8Rows assembled(List<Piece> pieces) {
        MemorySegment codes = MemorySegment.ofArray(new byte[Math.toIntExact(target.shape().elements())]);
        MemorySegment scales = MemorySegment.ofArray(new byte[Math.toIntExact(target.shape().dim(0) * Float.BYTES)]);
        target.assemble(name -> joined(pieces, name, true), codes);
        target.assemble(name -> joined(pieces, name, false), scales);
        return new Int8Rows(codes, scales, pieces.stream().mapToDouble(p -> p.rows().squaredError()).sum(), pieces.stream().mapToDouble(p -> p.rows().squaredNorm()).sum());
    }

    private static MemorySegment joined(List<Piece> pieces, String name, boolean codes) {
        List<MemorySegment> parts = pieces.stream().filter(p -> p.name().equals(name)).map(p -> codes ? p.rows().codes() : p.rows().scales()).toList();
        MemorySegment all = MemorySegment.ofArray(new byte[Math.toIntExact(parts.stream().mapToLong(MemorySegment::byteSize).sum())]);
        long at = 0;
        for (MemorySegment part : parts) {
            all.asSlice(at, part.byteSize()).copyFrom(part);
            at += part.byteSize();
        }
        return all;
    }
}
