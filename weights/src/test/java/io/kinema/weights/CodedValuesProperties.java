package io.kinema.weights;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Random;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

/** The decoders against plain loops that follow the formats' descriptions in another way, and FP8 against PyTorch's values. */
class CodedValuesProperties {
    private static final Path FLOAT8 = Path.of("src/test/resources/gguf/float8.json");

    @Example
    void allFloat8CodesAreTheReferences() throws IOException {
        var json = new ObjectMapper().readTree(FLOAT8.toFile());
        float[] e4m3 = GgufFileTest.floats(json.get("e4m3").asText());
        float[] e5m2 = GgufFileTest.floats(json.get("e5m2").asText());
        byte[] codes = new byte[256];
        for (int i = 0; i < 256; i++) {
            codes[i] = (byte) i;
            assertThat(FloatConversion.fromF8E4M3((byte) i)).as("E4M3 code %d", i).isEqualByComparingTo(e4m3[i]).isEqualByComparingTo((float) e4m3(i));
            assertThat(FloatConversion.fromF8E5M2((byte) i)).as("E5M2 code %d", i).isEqualByComparingTo(e5m2[i]);
        }
        float[] decoded = new float[256];
        new Float8Matrix(tensor(DType.F8_E4M3, codes, 16, 16), Optional.empty()).decode(0, 16, decoded, 0);
        assertThat(decoded).isEqualTo(e4m3);
        new Float8Matrix(tensor(DType.F8_E5M2, codes, 16, 16), Optional.empty()).decode(0, 16, decoded, 0);
        assertThat(decoded).isEqualTo(e5m2);
    }

    @Property(tries = 200)
    void float8IsTheCodesValueTimesTheScaleOfItsRow(@ForAll @Size(24) byte[] codes, @ForAll @Size(4) float[] scales, @ForAll @IntRange(max = 3) int from) {
        Float8Matrix matrix = new Float8Matrix(tensor(DType.F8_E4M3, codes, 4, 6), Optional.of(floats(scales, 4, 1)));
        float[] rows = new float[(4 - from) * 6];
        matrix.rows(from, 4).decode(0, 4 - from, rows, 0);
        for (int i = 0; i < rows.length; i++) {
            int at = from * 6 + i;
            assertThat(rows[i]).isEqualByComparingTo((float) e4m3(codes[at] & 0xff) * scales[at / 6]);
        }
        float[] all = new float[24];
        new Float8Matrix(tensor(DType.F8_E4M3, codes, 4, 6), Optional.of(floats(new float[] {scales[0]}))).decode(0, 4, all, 0);
        assertThat(all[23]).isEqualByComparingTo((float) e4m3(codes[23] & 0xff) * scales[0]);
    }

    @Property(tries = 200)
    void q8IsScaleTimesByte(@ForAll @Size(32) byte[] q, @ForAll short scale) {
        ByteBuffer block = ByteBuffer.allocate(34).order(ByteOrder.LITTLE_ENDIAN).putShort(scale).put(q);
        float[] out = new float[32];
        BlockCode.Q8_0.decode(MemorySegment.ofArray(block.array()), out, 0);
        for (int i = 0; i < 32; i++) {
            assertThat(out[i]).isEqualByComparingTo(Float.float16ToFloat(scale) * q[i]);
        }
        float bound = BlockCode.Q8_0.bound(MemorySegment.ofArray(block.array()));
        assertThat(Float.isFinite(bound)).isEqualTo(Float.isFinite(Float.float16ToFloat(scale)));
        if (Float.isFinite(bound)) {
            assertThat(largest(out)).isLessThanOrEqualTo(bound);
        }
    }

    /** Encoded as the format's description says (48 bits of scales and as many of minima, packed), decoded by the product's code. */
    @Property(tries = 200)
    void q4IsScaleTimesNibbleLessMinimum(@ForAll @Size(128) byte[] packed, @ForAll @Size(16) int[] sixBits, @ForAll short d, @ForAll short dmin) {
        ByteBuffer block = ByteBuffer.allocate(144).order(ByteOrder.LITTLE_ENDIAN).putShort(d).putShort(dmin);
        int[] scales = new int[8];
        int[] minima = new int[8];
        for (int i = 0; i < 8; i++) {
            scales[i] = sixBits[i] & 63;
            minima[i] = sixBits[8 + i] & 63;
        }
        byte[] twelve = new byte[12];
        for (int i = 0; i < 4; i++) {
            twelve[i] = (byte) (scales[i] + 64 * (scales[i + 4] / 16));
            twelve[i + 4] = (byte) (minima[i] + 64 * (minima[i + 4] / 16));
            twelve[i + 8] = (byte) (scales[i + 4] % 16 + 16 * (minima[i + 4] % 16));
        }
        block.put(twelve).put(packed);
        float[] out = new float[256];
        BlockCode.Q4_K.decode(MemorySegment.ofArray(block.array()), out, 0);
        for (int i = 0; i < 256; i++) {
            int run = i / 32;
            int both = packed[i / 64 * 32 + i % 32] & 0xff;
            int q = run % 2 == 0 ? both % 16 : both / 16;
            float scale = Float.float16ToFloat(d) * scales[run];
            float minimum = Float.float16ToFloat(dmin) * minima[run];
            assertThat(out[i]).as("value %d", i).isEqualByComparingTo(scale * q - minimum);
        }
        float bound = BlockCode.Q4_K.bound(MemorySegment.ofArray(block.array()));
        assertThat(Float.isFinite(bound)).isEqualTo(Float.isFinite(Float.float16ToFloat(d)) && Float.isFinite(Float.float16ToFloat(dmin)));
        if (Float.isFinite(bound)) {
            assertThat(largest(out)).isLessThanOrEqualTo(bound);
        }
    }

    @Property(tries = 50)
    void anyRowsOfAnyWidthAreThoseOfTheWhole(@ForAll @IntRange(min = 1, max = 7) int columnsBy32, @ForAll @IntRange(max = 7) int from, @ForAll @IntRange(max = 7) int more,
                                             @ForAll @Size(8 * 34 * 7) byte[] bytes) {
        int columns = columnsBy32 * 4;
        int last = Math.min(8, from + more);
        int blocks = 8 * columns / 32;
        GgufMatrix matrix = new GgufMatrix("m", BlockCode.Q8_0, MemorySegment.ofArray(bytes).asSlice(0, blocks * 34L), 0, 8, columns, Path.of("m"));
        float[] whole = new float[8 * columns];
        for (int b = 0; b < blocks; b++) {
            BlockCode.Q8_0.decode(matrix.blocks().asSlice(b * 34L, 34), whole, b * 32);
        }
        float[] part = new float[(last - from) * columns];
        matrix.rows(from, last).decode(0, last - from, part, 0);
        for (int i = 0; i < part.length; i++) {
            assertThat(part[i]).isEqualByComparingTo(whole[from * columns + i]);
        }
    }

    @Property(tries = 50)
    void theRotationIsTheMatrixItSaysAndItsOwnInverse(@ForAll @IntRange(min = 1, max = 4) int stages, @ForAll long seed) {
        int n = 1 << 2 * stages;
        double[][] r = {{1}};
        double[][] h4 = {{1, 1, 1, -1}, {1, 1, -1, 1}, {1, -1, 1, 1}, {-1, 1, 1, 1}};
        for (int s = 0; s < stages; s++) {
            r = kronecker(h4, r);
        }
        double[] x = new Random(seed).doubles(512 / n * n, -8, 8).toArray();
        double[] rotated = x.clone();
        RegularHadamard.rotate(rotated, n);
        double largest = 0;
        for (int i = 0; i < x.length; i++) {
            double sum = 0;
            double ones = 0;
            for (int k = 0; k < n; k++) {
                sum += x[i / n * n + k] * r[k][i % n] / Math.sqrt(n);
                ones += r[i % n][k] / Math.sqrt(n);
            }
            largest = Math.max(largest, Math.abs(sum - rotated[i]));
            assertThat(ones).isEqualTo(1);
        }
        assertThat(largest).isLessThan(1e-11);
        RegularHadamard.rotate(rotated, n);
        assertThat(rotated).usingComparatorWithPrecision(1e-11).containsExactly(x);
    }

    /** The value that a code of 1 sign, 4 exponent and 3 mantissa bits stands for, by the words of its definition. */
    private static double e4m3(int code) {
        if (code % 128 == 127) {
            return Double.NaN;
        }
        int exponent = code % 128 / 8;
        double magnitude = exponent == 0 ? code % 8 / 8.0 * Math.pow(2, -6) : (1 + code % 8 / 8.0) * Math.pow(2, exponent - 7);
        return code >= 128 ? -magnitude : magnitude;
    }

    private static float largest(float[] values) {
        float largest = 0;
        for (float v : values) {
            largest = Math.max(largest, Math.abs(v));
        }
        return largest;
    }

    private static double[][] kronecker(double[][] a, double[][] b) {
        int n = b.length;
        double[][] out = new double[a.length * n][a.length * n];
        for (int i = 0; i < out.length; i++) {
            for (int k = 0; k < out.length; k++) {
                out[i][k] = a[i / n][k / n] * b[i % n][k % n];
            }
        }
        return out;
    }

    private static StoredTensor tensor(DType dtype, byte[] bytes, long... dims) {
        return new StoredTensor("x", dtype, Shape.of(dims), MemorySegment.ofArray(bytes), Path.of("x"));
    }

    private static StoredTensor floats(float[] values, long... dims) {
        ByteBuffer bytes = ByteBuffer.allocate(values.length * 4).order(ByteOrder.LITTLE_ENDIAN);
        bytes.asFloatBuffer().put(values);
        return tensor(DType.F32, bytes.array(), dims);
    }
}
