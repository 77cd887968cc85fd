package io.kinema.compute.check;

import io.kinema.compute.DenseWeight;
import io.kinema.compute.Device;
import io.kinema.compute.Operand;
import io.kinema.compute.Tensor;
import io.kinema.compute.Weight;
import io.kinema.weights.DType;
import java.util.Optional;

/** Arguments of {@link io.kinema.compute.LinearOps}. */
record LinearChecks(Device device) {

    void linear(Operand x, Weight w, Optional<Tensor> bias, Tensor out) {
        Arguments a = new Arguments("linear", device);
        Tensor rows = a.floats("x", x.values(), 2);
        if (rows.shape().dim(1) != w.inFeatures()) {
            a.fail("x", rows, w.inFeatures() + " columns, the weight's inFeatures");
        }
        x.rowScale().ifPresent(s -> {
            a.f32("x.rowScale", s, rows.shape().dim(0));
            a.disjoint("x.rowScale", s, out);
        });
        switch (w) {
            case DenseWeight dense -> dense(a, dense.values(), out);
        }
        a.vector("bias", bias, w.outFeatures());
        a.floats("out", out, 2);
        a.shape("out", out, rows.shape().dim(0), w.outFeatures());
        a.disjoint("x", rows, out);
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

    void prepare(Tensor x, DType target) {
        Arguments a = new Arguments("prepare", device);
        a.require(Arguments.isFloat(target), "target", target, "F32, F16 or BF16");
        a.floats("x", x, 2);
        if (x.dtype() != DType.F32 && x.dtype() != target) {
            a.fail("x", x, "F32 or " + target);
        }
    }
}
