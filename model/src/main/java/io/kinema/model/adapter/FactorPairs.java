package io.kinema.model.adapter;

import io.kinema.weights.BadWeightsException;
import io.kinema.weights.Shape;
import io.kinema.weights.StoredTensor;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/** Turns the A and B of one module of a file into the pairs of the layers that its rows belong to. */
final class FactorPairs {
    private final TransformerTensors transformer;
    private final boolean interleaved;
    private final Arena arena;

    /**
     * @param interleaved the original's fused queries, keys and values come head by head
     * @param arena       of rows that had to be put in order
     */
    FactorPairs(TransformerTensors transformer, boolean interleaved, Arena arena) {
        this.transformer = transformer;
        this.interleaved = interleaved;
        this.arena = arena;
    }

    List<LowRankPair> of(ModulePlacement placement, StoredTensor down, StoredTensor up, double factor) {
        requireShapes(placement, down, up);
        StoredTensor ordered = placement.mayInterleave() && interleaved ? headsTogether(up, placement.targets().size()) : up;
        List<LowRankPair> pairs = new ArrayList<>();
        long from = 0;
        for (AdapterTarget target : placement.targets()) {
            long rows = transformer.of(target).dim(0);
            StoredTensor part = rows(ordered, from, rows);
            int[] ranks = Ranks.used(part);
            pairs.add(new LowRankPair(target, down, part, ranks[0], ranks[1], factor));
            from += rows;
        }
        return pairs;
    }

    private void requireShapes(ModulePlacement placement, StoredTensor down, StoredTensor up) {
        long in = transformer.of(placement.targets().getFirst()).dim(1);
        long out = placement.targets().stream().mapToLong(t -> transformer.of(t).dim(0)).sum();
        if (down.shape().rank() != 2 || down.shape().dim(1) != in || down.shape().dim(0) < 1) {
            throw wrong(down, "[rank, " + in + "]");
        }
        if (!up.shape().equals(Shape.of(out, down.shape().dim(0)))) {
            throw wrong(up, "[" + out + ", " + down.shape().dim(0) + "]");
        }
    }

    private static BadWeightsException wrong(StoredTensor tensor, String expected) {
        return new BadWeightsException(tensor.file() + ": tensor " + tensor.name() + " has shape " + tensor.shape() + ", expected " + expected
                + "; the adapter is for a model of another size, or the file is damaged");
    }

    private static StoredTensor rows(StoredTensor t, long from, long count) {
        long row = t.shape().dim(1) * t.dtype().bytes();
        return new StoredTensor(t.name(), t.dtype(), Shape.of(count, t.shape().dim(1)), t.data().asSlice(from * row, count * row), t.file());
    }

    /** Rows head0 (q, k, v), head1 (q, k, v), ... as all of q, all of k, all of v. */
    private StoredTensor headsTogether(StoredTensor up, int parts) {
        long run = transformer.headDim() * up.shape().dim(1) * up.dtype().bytes();
        long heads = up.shape().dim(0) / ((long) parts * transformer.headDim());
        MemorySegment ordered = arena.allocate(up.data().byteSize(), 64);
        IntStream.range(0, parts).forEach(p -> {
            for (long h = 0; h < heads; h++) {
                MemorySegment.copy(up.data(), (h * parts + p) * run, ordered, (p * heads + h) * run, run);
            }
        });
        return new StoredTensor(up.name(), up.dtype(), up.shape(), ordered, up.file());
    }
}
