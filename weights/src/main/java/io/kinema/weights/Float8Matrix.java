package io.kinema.weights;

import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * A matrix of FP8 codes (E4M3 without infinities, or E5M2) with one scale for all or one for each row:
 * {@code w[n, k] = value(codes[n, k]) * scale}, one FP32 product. Without scales the codes are the values.
 *
 * @param codes  F8_E4M3 or F8_E5M2 [rows, columns]
 * @param scales F32, one element or one for each row; empty for none
 */
public record Float8Matrix(StoredTensor codes, Optional<StoredTensor> scales) implements EncodedMatrix {
    private static final float[] E4M3 = new float[256];
    private static final float[] E5M2 = new float[256];

    static {
        for (int i = 0; i < 256; i++) {
            E4M3[i] = FloatConversion.fromF8E4M3((byte) i);
            E5M2[i] = FloatConversion.fromF8E5M2((byte) i);
        }
    }

    public Float8Matrix {
        if (codes.shape().rank() != 2 || codes.dtype() != DType.F8_E4M3 && codes.dtype() != DType.F8_E5M2) {
            throw new IllegalArgumentException("matrix " + codes.name() + ": got " + codes.dtype() + codes.shape() + ", expected two axes of FP8");
        }
        long rows = codes.shape().dim(0);
        scales.ifPresent(s -> {
            if (s.dtype() != DType.F32 || s.shape().elements() != 1 && s.shape().elements() != rows) {
                throw new IllegalArgumentException("scales " + s.name() + ": got " + s.dtype() + s.shape() + ", expected F32, one or one for each of " + rows + " rows");
            }
        });
    }

    @Override
    public String name() {
        return codes.name();
    }

    @Override
    public Path file() {
        return codes.file();
    }

    @Override
    public long rows() {
        return codes.shape().dim(0);
    }

    @Override
    public long columns() {
        return codes.shape().dim(1);
    }

    @Override
    public Float8Matrix rows(long from, long to) {
        return new Float8Matrix(codes.rows(from, to), scales.map(s -> perRow(s) ? s.rows(from, to) : s));
    }

    @Override
    public void decode(long from, long to, float[] out, int at) {
        Objects.checkFromToIndex(from, to, rows());
        int columns = Math.toIntExact(columns());
        Objects.checkFromIndexSize(at, Math.toIntExact((to - from) * columns), out.length);
        float[] values = table();
        for (long row = from; row < to; row++) {
            float scale = scale(row);
            int base = at + (int) ((row - from) * columns);
            long code = row * columns;
            for (int k = 0; k < columns; k++) {
                out[base + k] = values[codes.data().get(ValueLayout.JAVA_BYTE, code + k) & 0xff] * scale;
            }
        }
    }

    @Override
    public float bound() {
        float[] values = table();
        float largest = 0;
        for (long i = 0; i < codes.data().byteSize(); i++) {
            float value = Math.abs(values[codes.data().get(ValueLayout.JAVA_BYTE, i) & 0xff]);
            if (!(value < Float.POSITIVE_INFINITY)) {
                return Float.POSITIVE_INFINITY;
            }
            largest = Math.max(largest, value);
        }
        float scale = 0;
        for (long row = 0; row < rows(); row++) {
            scale = Math.max(scale, Math.abs(scale(row)));
        }
        return largest * scale;
    }

    @Override
    public long bytes() {
        return codes.data().byteSize() + scales.map(s -> s.data().byteSize()).orElse(0L);
    }

    @Override
    public OptionalInt rotation() {
        return OptionalInt.empty();
    }

    @Override
    public String encoding() {
        return "FP8 " + codes.dtype().name().substring("F8_".length())
                + scales.map(s -> perRow(s) ? " scaled by row" : " scaled by tensor").orElse("");
    }

    private float[] table() {
        return codes.dtype() == DType.F8_E4M3 ? E4M3 : E5M2;
    }

    private boolean perRow(StoredTensor scales) {
        return scales.shape().elements() != 1 || scales.shape().rank() > 0 && rows() == 1;
    }

    private float scale(long row) {
        return scales.map(s -> (float) FloatConversion.toDouble(DType.F32, s.data(), s.shape().elements() == 1 ? 0 : row)).orElse(1f);
    }
}
