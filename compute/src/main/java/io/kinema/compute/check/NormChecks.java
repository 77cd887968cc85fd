package io.kinema.compute.check;

import io.kinema.compute.Device;
import io.kinema.compute.NormOps.HeadNorm;
import io.kinema.compute.NormOps.Rotary;
import io.kinema.compute.NormOps.RowModulation;
import io.kinema.compute.Tensor;
import io.kinema.weights.DType;
import java.util.Optional;

/** Arguments of {@link io.kinema.compute.NormOps}. */
record NormChecks(Device device) {

    void rmsNorm(Tensor x, Optional<Tensor> weight, Tensor out) {
        rows(new Arguments("rmsNorm", device), x, weight, Optional.empty(), out);
    }

    void layerNorm(Tensor x, Optional<Tensor> weight, Optional<Tensor> bias, Tensor out) {
        rows(new Arguments("layerNorm", device), x, weight, bias, out);
    }

    private static void rows(Arguments a, Tensor x, Optional<Tensor> weight, Optional<Tensor> bias, Tensor out) {
        a.floats("x", x);
        a.require(x.rank() >= 1 && x.size(-1) > 0, "x", x, "a last axis of at least 1");
        a.vector("weight", weight, x.size(-1));
        a.vector("bias", bias, x.size(-1));
        a.floats("out", out);
        a.sameShape("out", out, x);
        a.sameOrDisjoint("x", x, out);
    }

    void rmsNormModulate(Tensor x, Tensor weight, RowModulation modulation, Tensor out) {
        Arguments a = new Arguments("rmsNormModulate", device);
        a.f32("x", x, 2);
        a.vector("weight", Optional.of(weight), x.size(1));
        Tensor shift = a.f32("shift", modulation.shift(), 2);
        a.f32("scale", modulation.scale(), 2);
        a.shape("shift", shift, shift.size(0), x.size(1));
        a.sameShape("scale", modulation.scale(), shift);
        a.index("rowIndex", modulation.rowIndex(), x.size(0), shift.size(0));
        a.floats("out", out);
        a.sameShape("out", out, x);
        a.sameOrDisjoint("x", x, out);
        a.disjoint("shift", shift, out);
        a.disjoint("scale", modulation.scale(), out);
    }

    void groupNormPerFrame(Tensor x, int groups, Tensor weight, Tensor bias, Tensor out) {
        Arguments a = new Arguments("groupNormPerFrame", device);
        a.f32("x", x, 4);
        a.contiguous("x", x);
        a.require(groups > 0 && x.size(0) % groups == 0, "groups", groups, "a divisor of the " + x.size(0) + " channels");
        a.f32("weight", weight, x.shape().dim(0));
        a.f32("bias", bias, x.shape().dim(0));
        a.f32("out", out, x.shape().toArray());
        a.contiguous("out", out);
        a.sameOrDisjoint("x", x, out);
    }

    void headNormRotary(Tensor x, Optional<HeadNorm> norm, Optional<Rotary> rotary, Tensor out) {
        Arguments a = new Arguments("headNormRotary", device);
        a.floats("x", x, 3);
        norm.ifPresent(n -> a.vector("norm.weight", n.weight(), x.size(2)));
        rotary.ifPresent(r -> {
            table(a, "cos", r.cos(), x);
            table(a, "sin", r.sin(), x);
            a.sameShape("sin", r.sin(), r.cos());
        });
        a.floats("out", out);
        a.sameShape("out", out, x);
        a.sameOrDisjoint("x", x, out);
    }

    private static void table(Arguments a, String name, Tensor t, Tensor x) {
        a.floats(name, t, 2);
        a.require(t.dtype() != DType.BF16, name, t, "F32 or F16");
        a.require(t.size(0) == x.size(0) && t.size(1) % 2 == 0 && t.size(1) <= x.size(2), name, t,
                "[" + x.size(0) + ", R] with R even and at most " + x.size(2));
    }
}
