package io.kinema.compute.testing;

import io.kinema.compute.Backend;
import io.kinema.compute.DenseWeight;
import io.kinema.compute.ElementwiseOps.RowGate;
import io.kinema.compute.NormOps.HeadNorm;
import io.kinema.compute.NormOps.Rotary;
import io.kinema.compute.Operand;
import io.kinema.compute.Tensor;
import io.kinema.compute.Workspace;
import io.kinema.weights.DType;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/** Cases for operations that a backend may do in one pass, and for pictures. */
final class FusedCases {
    private static final float EPS = 1e-5f;
    private static final int HEAD = 64;
    private static final int TURNED = 48;

    private FusedCases() {
    }

    static List<OpCase> all() {
        List<OpCase> cases = new ArrayList<>();
        for (DType type : List.of(DType.F32, DType.F16, DType.BF16)) {
            double tolerance = OpCases.tolerance(type);
            for (int[] s : new int[][] {{1, 8, 8}, {5, 24, 40}, {77, 136, 72}, {300, 264, 64}}) {
                String sizes = " [%d,%d]x[%d] %s".formatted(s[0], s[2], s[1], type);
                cases.add(new OpCase("prepareRmsNorm" + sizes, tolerance, b -> norm(b, type, s)));
                cases.add(new OpCase("linearResidual" + sizes, OpCases.FP32, b -> residual(b, type, s)));
                cases.add(new OpCase("linearSwiglu" + sizes, 2 * tolerance, b -> swiglu(b, type, s, 1, false)));
                cases.add(new OpCase("linearSwiglu, large" + sizes, 2 * tolerance, b -> swiglu(b, type, s, 300, true)));
            }
            for (int tiles : new int[] {1, 3}) {
                cases.add(new OpCase("linearHeads of " + tiles + " tiles " + type, 2 * tolerance, b -> heads(b, type, 9, tiles, 2, HEAD, TURNED)));
            }
            cases.add(new OpCase("linearHeads of other sizes " + type, 2 * tolerance, b -> heads(b, type, 9, 2, 3, 16, 12)));
        }
        // Of the released models' width, where a row is more than one pass of a block, and beyond what a block holds.
        for (int width : new int[] {9, 5376, 14336, 20000}) {
            for (DType type : List.of(DType.F32, DType.F16, DType.BF16)) {
                if (type != DType.F32) {
                    // FP32 is gated in place, which is the operation swiglu.
                    cases.add(new OpCase("prepareSwiglu " + width + " " + type, OpCases.tolerance(type), b -> gated(b, type, width)));
                }
                cases.add(new OpCase("prepareRmsNorm of rows of " + width + " " + type, OpCases.tolerance(type), b -> norm(b, type, new int[] {3, 0, width})));
            }
        }
        cases.add(new OpCase("levels", 0, b -> levels(b, 3, 4, 9, 31)));
        cases.add(new OpCase("levels of one channel", 0, b -> levels(b, 1, 1, 3, 5)));
        return cases;
    }

    /** The values that an operand stands for, FP32. */
    private static Tensor shown(Backend b, Operand o) {
        Tensor out = Values.empty(o.values().size(0), o.values().size(1));
        b.copy(o.values(), out);
        if (o.rowScale().isEmpty()) {
            return out;
        }
        Tensor scales = Values.empty(o.values().size(0));
        b.copy(o.rowScale().get(), scales);
        float[] values = out.toFloats();
        float[] each = scales.toFloats();
        for (int i = 0; i < values.length; i++) {
            values[i] *= each[i / out.size(1)];
        }
        return Tensor.ofFloats(values, out.shape().toArray());
    }

    private static Tensor norm(Backend b, DType type, int[] s) {
        Values v = new Values(21);
        Tensor x = v.normal(s[0], s[2]);
        Tensor weight = v.scaled(DType.F32, 3000, s[2]);
        try (Workspace ws = b.workspace("test")) {
            return shown(b, b.prepareRmsNorm(x, Optional.of(weight), EPS, type, ws));
        }
    }

    private static Tensor residual(Backend b, DType type, int[] s) {
        Values v = new Values(22);
        Tensor x = v.normal(type, s[0], s[2]);
        DenseWeight w = new DenseWeight(v.scaled(type, 0.1, s[1], s[2]));
        Tensor bias = v.normal(s[1]);
        Tensor gate = v.normal(1, s[1]);
        Tensor sum = v.normal(s[0], s[1]);
        try (Workspace ws = b.workspace("test")) {
            b.linearResidual(Operand.of(x), w, Optional.of(bias), new RowGate(gate, Optional.empty()), sum, ws);
        }
        return sum;
    }

    private static Tensor gated(Backend b, DType type, int width) {
        Values v = new Values(26);
        Tensor gate = v.scaled(type, 30, 3, width);
        Tensor up = v.scaled(type, 30, 3, width);
        try (Workspace ws = b.workspace("test")) {
            return shown(b, b.prepareSwiglu(gate, up, type, ws));
        }
    }

    private static Tensor swiglu(Backend b, DType type, int[] s, double size, boolean gateFirst) {
        Values v = new Values(23);
        Tensor x = v.scaled(type, size, s[0], s[2]);
        DenseWeight w = new DenseWeight(v.scaled(type, 0.2, 2L * s[1], s[2]));
        Tensor bias = v.normal(2L * s[1]);
        try (Workspace ws = b.workspace("test")) {
            return shown(b, b.linearSwiglu(Operand.of(x), w, Optional.of(bias), gateFirst, type, ws));
        }
    }

    private static Tensor heads(Backend b, DType type, int tokens, int tiles, int heads, int width, int turned) {
        Values v = new Values(24);
        int depth = 40;
        Tensor x = v.normal(type, (long) tokens * tiles, depth);
        DenseWeight w = new DenseWeight(v.scaled(type, 0.2, (long) heads * width, depth));
        Tensor bias = v.normal((long) heads * width);
        Rotary rotary = new Rotary(v.normal(tokens, turned), v.normal(tokens, turned));
        Tensor out = Values.empty(type, tokens, (long) tiles * heads, width);
        b.linearHeads(Operand.of(x), w, Optional.of(bias), new HeadNorm(Optional.empty(), EPS), rotary, out);
        return out;
    }

    /** Levels as floats, then how many values of each picture were not finite. */
    private static Tensor levels(Backend b, int channels, int times, int height, int width) {
        Values v = new Values(25);
        Tensor all = v.normal(channels, times + 1L, height, width);
        all.data().setAtIndex(ValueLayout.JAVA_FLOAT, (long) height * width, Float.NaN);
        all.data().setAtIndex(ValueLayout.JAVA_FLOAT, (long) height * width + 1, Float.NEGATIVE_INFINITY);
        Tensor x = all.slice(1, 1, times + 1L);
        Tensor out = Values.empty(DType.U8, times, height, width, channels);
        Tensor counts = Values.empty(DType.I32, times);
        float[] factor = {0.3f, 0.5f, -0.7f};
        float[] offset = {0.5f, 0.1f, 0.2f};
        b.levels(x, Arrays.copyOf(factor, channels), Arrays.copyOf(offset, channels), out, counts);
        int area = channels * height * width;
        float[] shown = new float[times * (area + 1)];
        for (int i = 0; i < times * area; i++) {
            shown[i] = Byte.toUnsignedInt(out.data().get(ValueLayout.JAVA_BYTE, i));
        }
        for (int t = 0; t < times; t++) {
            shown[times * area + t] = counts.data().getAtIndex(ValueLayout.JAVA_INT, t);
        }
        return Tensor.ofFloats(shown, shown.length);
    }
}
