package io.kinema.engine.verify;

import com.fasterxml.jackson.databind.JsonNode;
import io.kinema.engine.BadRequestException;
import java.util.Iterator;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * The part of a computed result that a case keeps.
 *
 * @param frames        indices of frames, negative ones from the end; empty for all
 * @param rowColumnStep every how many rows and columns one is kept
 * @param samples       first and last-but-one sample, empty for all
 */
record Selection(Optional<int[]> frames, int rowColumnStep, Optional<int[]> samples) {
    static final Selection ALL = new Selection(Optional.empty(), 1, Optional.empty());
    private static final Set<String> KNOWN = Set.of("frames", "row_column_step", "samples");

    /** @throws BadRequestException for a key or value that the format does not have */
    static Selection read(JsonNode node, String where) {
        if (node.isMissingNode()) {
            return ALL;
        }
        for (Iterator<String> keys = node.fieldNames(); keys.hasNext();) {
            String key = keys.next();
            if (!KNOWN.contains(key)) {
                throw new BadRequestException(where + " select", key, "expected one of " + KNOWN);
            }
        }
        int step = node.path("row_column_step").asInt(1);
        Optional<int[]> samples = Optional.of(node.path("samples")).filter(JsonNode::isArray).map(Selection::ints);
        if (step < 1 || samples.isPresent() && (samples.get().length != 2 || samples.get()[0] > samples.get()[1])) {
            throw new BadRequestException(where + " select", node.toString(), "expected a row_column_step from 1 and samples [from, to)");
        }
        return new Selection(Optional.of(node.path("frames")).filter(JsonNode::isArray).map(Selection::ints), step, samples);
    }

    /**
     * Videos are (1, channel, frame, row, column) or (frame, row, column, channel), pictures (row, column, channel),
     * sound has its samples last.
     */
    Values of(Values all) {
        int frameAxis = all.shape().rank() == 5 ? 2 : 0;
        int rowAxis = all.shape().rank() == 3 ? 0 : frameAxis + 1;
        Values kept = all;
        if (frames.isPresent()) {
            int count = all.shape().size(frameAxis);
            kept = kept.pick(frameAxis, IntStream.of(frames.get()).map(f -> f < 0 ? f + count : f).toArray());
        }
        if (rowColumnStep > 1) {
            kept = kept.pick(rowAxis, every(kept.shape().size(rowAxis))).pick(rowAxis + 1, every(kept.shape().size(rowAxis + 1)));
        }
        if (samples.isPresent()) {
            kept = kept.pick(kept.shape().rank() - 1, IntStream.range(samples.get()[0], samples.get()[1]).toArray());
        }
        return kept;
    }

    private int[] every(int size) {
        return IntStream.iterate(0, i -> i < size, i -> i + rowColumnStep).toArray();
    }

    private static int[] ints(JsonNode array) {
        return IntStream.range(0, array.size()).map(i -> array.get(i).asInt()).toArray();
    }
}
