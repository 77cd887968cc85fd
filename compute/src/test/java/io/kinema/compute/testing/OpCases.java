package io.kinema.compute.testing;

import io.kinema.compute.Backend;
import io.kinema.compute.DenseWeight;
import io.kinema.compute.ElementwiseOps.RowGate;
import io.kinema.compute.NormOps.HeadNorm;
import io.kinema.compute.NormOps.Rotary;
import io.kinema.compute.NormOps.RowModulation;
import io.kinema.compute.Operand;
import io.kinema.compute.Tensor;
import io.kinema.weights.DType;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Cases for every operation but convolutions: all dtypes, strided rows, sizes around whole vectors. */
public final class OpCases {
    /** FP32 results against FP64 sums. */
    static final double FP32 = 1e-6;
    /** A rounding to 16 bits may fall the other way for a few values. */
    static final double F16_STORE = 1e-4;
    static final double BF16_STORE = 1e-3;

    private OpCases() {
    }

    public static Stream<OpCase> all() {
        return Stream.of(linear(), WeightKindCases.all(), norms(), attention(), elementwise(), moves(), ConvolutionCases.all(), FusedCases.all()).flatMap(List::stream);
    }

    private static OpCase of(String name, double tolerance, Function<Backend, Tensor> run) {
        return new OpCase(name, tolerance, run);
    }

    static double tolerance(DType out) {
        return switch (out) {
            case F16 -> F16_STORE;
            case BF16 -> BF16_STORE;
            default -> FP32;
        };
    }

    private static List<OpCase> linear() {
        List<OpCase> cases = new ArrayList<>();
        for (int[] s : new int[][] {{1, 1, 1}, {3, 5, 7}, {33, 70, 129}, {500, 40, 33}, {70, 1100, 20}, {6, 9, 2000}}) {
            for (DType weight : List.of(DType.F32, DType.BF16, DType.F16)) {
                cases.add(linear(s, weight, false, DType.F32, DType.F32));
            }
            cases.add(linear(s, DType.F32, true, DType.F32, DType.F16));
            cases.add(linear(s, DType.F16, true, DType.F16, DType.F32));
            cases.add(linear(s, DType.BF16, true, DType.BF16, DType.BF16));
        }
        cases.add(linearOfManyWeights());
        cases.add(linearOfStridedRows());
        cases.add(of("linear of no columns", 0, b -> {
            Tensor out = Values.empty(2, 3);
            b.linear(Operand.of(Values.empty(2, 0)), new DenseWeight(Values.empty(3, 0)), Optional.of(Tensor.ofFloats(new float[] {1, 2, 3}, 3)), out);
            return out;
        }));
        for (DType target : List.of(DType.F16, DType.BF16)) {
            cases.add(of("prepare " + target, 0, b -> {
                Tensor x = new Values(9).scaled(DType.F32, 1e5, 20, 37);
                try (var ws = b.workspace("test")) {
                    Operand o = b.prepare(x, target, ws);
                    Tensor out = Values.empty(20, 38);
                    b.copy(o.values(), out.slice(1, 0, 37));
                    b.fill(out.slice(1, 37, 38), 0);
                    o.rowScale().ifPresent(s -> b.copy(s.reshape(20, 1), out.slice(1, 37, 38)));
                    return out;
                }
            }));
        }
        return cases;
    }

    private static OpCase linear(int[] s, DType weight, boolean columnMajor, DType input, DType output) {
        String name = "linear [%d,%d]x[%d] %s%s x %s -> %s".formatted(s[0], s[1], s[2], weight, columnMajor ? " columns" : "", input, output);
        return of(name, tolerance(output), b -> {
            Values v = new Values(1);
            Tensor x = v.normal(input, s[0], s[1]);
            Tensor w = columnMajor ? v.normal(weight, s[1], s[2]).permute(1, 0) : v.normal(weight, s[2], s[1]);
            Optional<Tensor> scale = columnMajor ? Optional.of(v.uniform(1, 4, s[0])) : Optional.empty();
            Tensor out = Values.empty(output, s[0], s[2]);
            b.linear(new Operand(x, scale), new DenseWeight(w), Optional.of(v.normal(weight, s[2])), out);
            return out;
        });
    }

    /** More 16-bit weights than are widened at once. */
    private static OpCase linearOfManyWeights() {
        return of("linear [3,2100]x[700] BF16 in blocks", FP32, b -> {
            Values v = new Values(2);
            Tensor out = Values.empty(3, 700);
            b.linear(Operand.of(v.normal(3, 2100)), new DenseWeight(v.normal(DType.BF16, 700, 2100)), out);
            return out;
        });
    }

    private static OpCase linearOfStridedRows() {
        return of("linear of strided rows into strided rows", FP32, b -> {
            Values v = new Values(3);
            Tensor x = v.normal(19, 64).slice(1, 7, 40);
            Tensor out = v.normal(19, 50);
            b.linear(Operand.of(x), new DenseWeight(v.normal(12, 60).slice(1, 3, 36)), Optional.of(v.normal(12)), out.slice(1, 20, 32));
            return out;
        });
    }

    private static List<OpCase> norms() {
        List<OpCase> cases = new ArrayList<>();
        for (int d : new int[] {1, 5, 16, 33, 64, 127, 192, 5376, 9001, 20000}) {
            for (DType dtype : List.of(DType.F32, DType.F16, DType.BF16)) {
                cases.add(of("rmsNorm " + d + " " + dtype, tolerance(dtype), b -> {
                    Values v = new Values(4);
                    Tensor out = Values.empty(dtype, 3, 7, d);
                    b.rmsNorm(v.normal(dtype, 3, 7, d), Optional.of(v.normal(dtype, d)), 1e-5f, out);
                    return out;
                }));
            }
            cases.add(of("rmsNormModulate " + d, FP32, b -> {
                Values v = new Values(5);
                Tensor out = Values.empty(40, d);
                Tensor tables = v.normal(4, 2L * d);
                b.rmsNormModulate(v.normal(40, d), v.normal(d), 1e-5f,
                        new RowModulation(tables.slice(1, 0, d), tables.slice(1, d, 2L * d), v.index(40, 4)), out);
                return out;
            }));
            cases.add(of("layerNorm " + d, 2e-6, b -> {
                Values v = new Values(6);
                Tensor x = v.normal(23, d);
                b.layerNorm(x, Optional.of(v.normal(d)), Optional.of(v.normal(d)), 1e-5f, x);
                return x;
            }));
        }
        cases.add(headNormRotary(DType.F32, 5, 3, 64, 48, false));
        cases.add(headNormRotary(DType.F32, 300, 4, 64, 64, true));
        cases.add(headNormRotary(DType.BF16, 9, 2, 24, 10, true));
        cases.add(headNormRotary(DType.F16, 1, 1, 7, 2, false));
        for (boolean silu : new boolean[] {false, true}) {
            cases.add(of("groupNormPerFrame silu " + silu, 2e-6, b -> {
                Values v = new Values(8);
                Tensor x = v.normal(12, 3, 90, 101);
                Tensor out = silu ? x : Values.empty(12, 3, 90, 101);
                b.groupNormPerFrame(x, 4, v.normal(12), v.normal(12), 1e-6f, silu, out);
                return out;
            }));
        }
        return cases;
    }

    private static OpCase headNormRotary(DType dtype, int m, int heads, int d, int rotated, boolean fused) {
        String name = "headNormRotary %s [%d,%d,%d] rotate %d%s".formatted(dtype, m, heads, d, rotated, fused ? " of a fused matrix" : "");
        return of(name, tolerance(dtype), b -> {
            Values v = new Values(7);
            Tensor all = v.normal(dtype, m, (long) heads * d * (fused ? 3 : 1));
            Tensor x = all.slice(1, 0, (long) heads * d).splitLast(heads, d);
            Rotary rotary = new Rotary(v.uniform(-1, 1, m, rotated), v.uniform(-1, 1, m, rotated));
            b.headNormRotary(x, Optional.of(new HeadNorm(Optional.of(v.normal(d)), 1e-6f)), Optional.of(rotary), x);
            return all;
        });
    }

    private static List<OpCase> attention() {
        List<OpCase> cases = new ArrayList<>();
        for (int[] s : new int[][] {{1, 1, 1, 1, 1}, {7, 7, 2, 1, 5}, {65, 33, 4, 2, 16}, {33, 65, 6, 3, 64}, {400, 230, 2, 2, 24}, {40, 2500, 1, 1, 8}}) {
            for (boolean causal : new boolean[] {false, true}) {
                cases.add(attention(s, causal, DType.F32));
            }
            cases.add(attention(s, false, DType.F16));
            cases.add(attention(s, true, DType.BF16));
        }
        // Scores of several hundred carry an FP32 rounding of 3e-5, which the exponential passes on.
        cases.add(of("attention of large scores", 1e-5, b -> {
            Values v = new Values(11);
            Tensor out = Values.empty(20, 2, 16);
            b.attention(v.scaled(DType.F32, 20, 20, 2, 16), v.scaled(DType.F32, 20, 30, 2, 16), v.normal(30, 2, 16), 1, false, out);
            return out;
        }));
        return cases;
    }

    private static OpCase attention(int[] s, boolean causal, DType dtype) {
        String name = "attention %d queries, %d keys, %d/%d heads of %d%s %s".formatted(s[0], s[1], s[2], s[3], s[4], causal ? " causal" : "", dtype);
        return of(name, tolerance(dtype), b -> {
            Values v = new Values(10);
            Tensor q = v.normal(dtype, s[0], s[2] * (s[4] + 3L)).splitLast(s[2], s[4] + 3).slice(2, 2, s[4] + 2);
            Tensor kv = v.normal(dtype, s[1], 2L * s[3] * s[4]);
            Tensor k = kv.slice(1, 0, (long) s[3] * s[4]).splitLast(s[3], s[4]);
            Tensor values = kv.slice(1, (long) s[3] * s[4], 2L * s[3] * s[4]).splitLast(s[3], s[4]);
            Tensor out = Values.empty(dtype, s[2], s[0], s[4]).permute(1, 0, 2);
            b.attention(q, k, values, (float) (1 / Math.sqrt(s[4])), causal, out);
            return out;
        });
    }

    private static List<OpCase> elementwise() {
        List<OpCase> cases = new ArrayList<>();
        for (int n : IntStream.concat(IntStream.rangeClosed(1, 33), IntStream.of(255, 8192, 8193, 20_000)).toArray()) {
            cases.add(unary("silu", n, DType.F32, (b, x, out) -> b.silu(x, out)));
            cases.add(unary("geluTanh", n, DType.F32, (b, x, out) -> b.geluTanh(x, out)));
            cases.add(binary("swiglu", n, DType.F32, (b, x, y, out) -> b.swiglu(x, y, out)));
            cases.add(of("snake " + n, FP32, b -> {
                Values v = new Values(14);
                Tensor x = v.scaled(DType.F32, 3, 2, 3, n);
                b.snake(x, v.uniform(0.1, 30, 3), v.uniform(0.01, 2, 3), x);
                return x;
            }));
        }
        for (DType dtype : List.of(DType.F32, DType.F16, DType.BF16)) {
            cases.add(unary("geluErf", 99, dtype, (b, x, out) -> b.geluErf(x, out)));
            cases.add(unary("scale", 99, dtype, (b, x, out) -> b.scale(x, 0.7f, out)));
            cases.add(unary("clamp", 99, dtype, (b, x, out) -> b.clamp(x, -0.5f, 1.25f, out)));
            cases.add(binary("geglu", 99, dtype, (b, x, y, out) -> b.geglu(x, y, out)));
            cases.add(binary("swiglu", 99, dtype, (b, x, y, out) -> b.swiglu(x, y, out)));
            cases.add(binary("add", 99, dtype, (b, x, y, out) -> b.add(x, y, out)));
            cases.add(of("gatedResidualAdd " + dtype, FP32, b -> {
                Values v = new Values(15);
                Tensor residual = v.normal(200, 99);
                b.gatedResidualAdd(residual, v.normal(dtype, 200, 99), Optional.of(new RowGate(v.normal(5, 99), Optional.of(v.index(200, 5)))));
                b.gatedResidualAdd(residual, v.normal(dtype, 200, 99), Optional.of(new RowGate(v.normal(1, 99), Optional.empty())));
                b.gatedResidualAdd(residual, v.normal(dtype, 200, 99), Optional.empty());
                return residual;
            }));
        }
        for (int n : new int[] {1, 7, 16, 33, 9001}) {
            cases.add(of("addScaled " + n + " into a slice", 0, b -> {
                Values v = new Values(22);
                Tensor out = v.normal(5, n + 9L);
                b.addScaled(v.normal(5, n + 3L).slice(1, 2, n + 2L), -0.75f, out.slice(1, 4, n + 4L));
                return out;
            }));
        }
        cases.add(of("snake beyond the vector sine", FP32, b -> {
            Tensor x = new Values(16).scaled(DType.F32, 1e8, 1, 2, 50);
            b.snake(x, Tensor.ofFloats(new float[] {1, 0.01f}, 2), Tensor.ofFloats(new float[] {1e8f, 1e8f}, 2), x);
            return x;
        }));
        for (long[] dims : new long[][] {{7}, {3, 40}, {4, 5, 33}, {2, 3, 4, 5000}}) {
            cases.add(of("channelAffine " + java.util.Arrays.toString(dims), FP32, b -> {
                Values v = new Values(17);
                Tensor out = Values.empty(dims);
                b.channelAffine(v.normal(dims), v.normal(dims[0]), v.normal(dims[0]), out);
                return out;
            }));
        }
        return cases;
    }

    private interface UnaryOp {
        void apply(Backend b, Tensor x, Tensor out);
    }

    private interface BinaryOp {
        void apply(Backend b, Tensor x, Tensor y, Tensor out);
    }

    private static OpCase unary(String op, int n, DType dtype, UnaryOp f) {
        return of(op + " " + n + " " + dtype, tolerance(dtype), b -> {
            Tensor out = Values.empty(dtype, 3, n);
            f.apply(b, new Values(12).scaled(dtype, 4, 3, n), out);
            return out;
        });
    }

    private static OpCase binary(String op, int n, DType dtype, BinaryOp f) {
        return of(op + " " + n + " " + dtype + " in place on strided rows", tolerance(dtype), b -> {
            Tensor both = new Values(13).scaled(dtype, 3, 3, 2L * n);
            Tensor gate = both.slice(1, 0, n);
            f.apply(b, gate, both.slice(1, n, 2L * n), gate);
            return both;
        });
    }

    private static List<OpCase> moves() {
        List<OpCase> cases = new ArrayList<>();
        List<DType> kinds = List.of(DType.F64, DType.F32, DType.F16, DType.BF16);
        for (DType from : kinds) {
            for (DType to : kinds) {
                cases.add(of("copy " + from + " to " + to, 0, b -> {
                    Tensor out = Values.empty(to, 5, 9, 31);
                    b.copy(new Values(18).normal(from, 31, 5, 9).permute(1, 2, 0), out);
                    Tensor again = Values.empty(to, 5, 9, 62);
                    b.fill(again, 2.5f);
                    b.copy(out, again.slice(2, 31, 62));
                    return again;
                }));
            }
        }
        cases.add(of("copy of a long row", 0, b -> {
            Tensor out = Values.empty(2, 100_003);
            b.copy(new Values(19).normal(2, 100_003), out);
            return out;
        }));
        cases.add(of("gatherRows and scatterRows", 0, b -> {
            Values v = new Values(20);
            Tensor out = v.normal(50, 17);
            Tensor picked = Values.empty(DType.BF16, 30, 17);
            b.gatherRows(v.normal(40, 17), v.index(30, 40), picked);
            b.scatterRows(picked, v.distinct(30, 50), out);
            return out;
        }));
        for (int dim = -1; dim < 3; dim++) {
            int axis = dim;
            cases.add(of("crossFade along " + dim, 0, b -> {
                Values v = new Values(21);
                Tensor out = v.normal(6, 5, 9000);
                b.crossFade(out, v.normal(6, 5, 9000), axis, out);
                return out;
            }));
        }
        return cases;
    }
}
