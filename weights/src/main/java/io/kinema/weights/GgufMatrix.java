package io.kinema.weights;

import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.Objects;
import java.util.OptionalInt;

/**
 * A matrix of a GGUF file in blocks of consecutive values. Rows may begin inside a block: where a row was no whole number of
 * blocks, the file's writer made blocks across rows.
 *
 * @param code    how a block is coded
 * @param blocks  all blocks of the tensor that this is a part of
 * @param first   which value of the tensor is this matrix's first
 * @param rows    output features
 * @param columns input features
 */
record GgufMatrix(String name, BlockCode code, MemorySegment blocks, long first, long rows, long columns, Path file) implements EncodedMatrix {

    @Override
    public GgufMatrix rows(long from, long to) {
        Objects.checkFromToIndex(from, to, rows);
        return new GgufMatrix(name, code, blocks, first + from * columns, to - from, columns, file);
    }

    @Override
    public void decode(long from, long to, float[] out, int at) {
        Objects.checkFromToIndex(from, to, rows);
        long begin = first + from * columns;
        long end = first + to * columns;
        Objects.checkFromIndexSize(at, Math.toIntExact(end - begin), out.length);
        float[] part = new float[code.elements()];
        int size = code.elements();
        int filled = at;
        for (long block = begin / size; block * size < end; block++) {
            int low = (int) Math.max(0, begin - block * size);
            int high = (int) Math.min(size, end - block * size);
            MemorySegment bytes = blocks.asSlice(block * code.bytes(), code.bytes());
            if (high - low == size) {
                code.decode(bytes, out, filled);
            } else {
                code.decode(bytes, part, 0);
                System.arraycopy(part, low, out, filled, high - low);
            }
            filled += high - low;
        }
    }

    @Override
    public float bound() {
        float bound = 0;
        long last = (first + rows * columns + code.elements() - 1) / code.elements();
        for (long block = first / code.elements(); block < last; block++) {
            float one = code.bound(blocks.asSlice(block * code.bytes(), code.bytes()));
            if (!(one < Float.POSITIVE_INFINITY)) {
                return Float.POSITIVE_INFINITY;
            }
            bound = Math.max(bound, one);
        }
        return bound;
    }

    @Override
    public long bytes() {
        return rows * columns / code.elements() * code.bytes();
    }

    @Override
    public OptionalInt rotation() {
        return OptionalInt.empty();
    }

    @Override
    public String encoding() {
        return code.name();
    }
}
