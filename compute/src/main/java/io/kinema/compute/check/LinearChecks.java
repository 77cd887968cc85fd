package io.kinema.compute.check;

import io.kinema.compute.DenseWeight;
import io.kinema.compute.Device;
import io.kinema.compute.EncodedWeight;
import io.kinema.compute.Int8Weight;
import io.kinema.compute.LinearEpilogue;
import io.kinema.compute.LinearEpilogue.ScaledDelta;
import io.kinema.compute.Operand;
import io.kinema.compute.Rotation;
import io.kinema.compute.Tensor;
import io.kinema.compute.Weight;
import io.kinema.weights.DType;

/** Arguments of {@link io.kinema.compute.LinearOps}. */
record LinearChecks(Device device) {

    void linear(Operand x, Weight w, LinearEpilogue epilogue, Tensor out) {
        Arguments a = new Arguments("linear", device);
        Tensor rows = operand(a, x);
        if (rows.shape().dim(1) != w.inFeatures()) {
            a.fail("x", rows, w.inFeatures() + " columns, the weight's inFeatures");
        }
        if (!x.rotation().equals(w.rotation())) {
            a.fail("x.rotation", described(x), "the weight's coordinates, " + described(w));
        }
        switch (w) {
            case DenseWeight dense -> dense(a, dense.values(), out);
            case Int8Weight int8 -> int8(a, int8, out);
            case EncodedWeight _ -> { }
        }
        a.floats("out", out, 2);
        a.shape("out", out, rows.shape().dim(0), w.outFeatures());
        a.disjoint("x", rows, out);
        x.rowScale().ifPresent(s -> a.disjoint("x.rowScale", s, out));
        epilogue(a, epilogue, out);
    }

    private Tensor operand(Arguments a, Operand x) {
        Tensor rows = a.floats("x", x.values(), 2);
        x.rowScale().ifPresent(s -> a.f32("x.rowScale", s, rows.shape().dim(0)));
        return rows;
    }

    private static String described(Operand x) {
        return x.rotation().map(r -> "rows rotated by " + r.group()).orElse("rows not rotated");
    }

    private static String described(Weight w) {
        return w.rotation().map(r -> "rotated by " + r.group()).orElse("not rotated");
    }

    private static void dense(Arguments a, Tensor w, Tensor out) {
        boolean rowMajor = w.size(1) <= 1 || w.stride(1) == 1;
        boolean columnMajor = w.size(0) <= 1 || w.stride(0) == 1;
        a.require(rowMajor || columnMajor, "w", w, "row- or column-major storage");
        if (!w.device().equals(out.device())) {
            a.fail("w", w, "a tensor on " + out.device());
        }
        a.disjoint("w", w, out);
    }

    private static void int8(Arguments a, Int8Weight w, Tensor out) {
        a.placed("w", w.values());
        a.disjoint("w", w.values(), out);
        a.f32("w.scales", w.scales(), (long) w.outFeatures());
        a.disjoint("w.scales", w.scales(), out);
    }

    private static void epilogue(Arguments a, LinearEpilogue epilogue, Tensor out) {
        a.vector("bias", epilogue.bias(), out.shape().dim(1));
        epilogue.bias().ifPresent(bias -> a.disjoint("bias", bias, out));
        for (int i = 0; i < epilogue.deltas().size(); i++) {
            delta(a, "deltas[" + i + "]", epilogue.deltas().get(i), out);
        }
    }

    private static void delta(Arguments a, String argument, ScaledDelta delta, Tensor out) {
        Tensor values = a.f32(argument, delta.values(), 2);
        int first = delta.column();
        if (values.size(0) != out.size(0) || first < 0 || values.size(1) > out.size(1) - first) {
            a.fail(argument, values + " at column " + first, out.size(0) + " rows within the " + out.size(1) + " columns of out");
        }
        a.require(Float.isFinite(delta.factor()), argument + ".factor", delta.factor(), "a finite number");
        a.disjoint(argument, values, out);
    }

    void prepare(Tensor x, DType target) {
        Arguments a = new Arguments("prepare", device);
        a.require(Arguments.isFloat(target), "target", target, "F32, F16 or BF16");
        a.floats("x", x, 2);
        if (x.dtype() != DType.F32 && x.dtype() != target) {
            a.fail("x", x, "F32 or " + target);
        }
    }

    void rotate(Operand x, Rotation rotation) {
        Arguments a = new Arguments("rotate", device);
        Tensor rows = operand(a, x);
        a.require(x.rotation().isEmpty(), "x", x.rotation(), "rows that are not rotated");
        if (rows.shape().dim(1) % rotation.group() != 0) {
            a.fail("x", rows, "columns in whole groups of " + rotation.group());
        }
    }
}
