package io.kinema.compute.check;

import io.kinema.compute.Device;
import io.kinema.compute.ElementwiseOps.RowGate;
import io.kinema.compute.Tensor;
import java.util.Optional;

/** Arguments of {@link io.kinema.compute.ElementwiseOps}. */
record ElementwiseChecks(Device device) {

    void unary(String op, Tensor x, Tensor out) {
        Arguments a = new Arguments(op, device);
        a.floats("x", x);
        output(a, "x", x, out);
    }

    void binary(String op, String nameA, Tensor x, String nameB, Tensor y, Tensor out) {
        Arguments a = new Arguments(op, device);
        a.floats(nameA, x);
        a.floats(nameB, y);
        a.sameShape(nameB, y, x);
        output(a, nameA, x, out);
        a.sameOrDisjoint(nameB, y, out);
    }

    private static void output(Arguments a, String name, Tensor x, Tensor out) {
        a.floats("out", out);
        a.sameShape("out", out, x);
        a.sameOrDisjoint(name, x, out);
    }

    void addScaled(Tensor x, Tensor out) {
        Arguments a = new Arguments("addScaled", device);
        a.f32("x", x, 2);
        a.f32("out", out, 2);
        a.sameShape("out", out, x);
        a.disjoint("x", x, out);
    }

    void gatedResidualAdd(Tensor residual, Tensor x, Optional<RowGate> gate) {
        Arguments a = new Arguments("gatedResidualAdd", device);
        a.f32("residual", residual, 2);
        a.floats("x", x, 2);
        a.sameShape("x", x, residual);
        a.disjoint("x", x, residual);
        gate.ifPresent(g -> {
            Tensor table = a.f32("gate.table", g.table(), 2);
            a.shape("gate.table", table, table.size(0), residual.size(1));
            a.require(g.rowIndex().isPresent() || table.size(0) == 1, "gate.table", table, "one row, as there is no row index");
            g.rowIndex().ifPresent(i -> a.index("gate.rowIndex", i, residual.size(0), table.size(0)));
            a.disjoint("gate.table", table, residual);
        });
    }

    void snake(Tensor x, Tensor alpha, Tensor invBeta, Tensor out) {
        Arguments a = new Arguments("snake", device);
        a.f32("x", x, 3);
        a.f32("alpha", alpha, x.shape().dim(1));
        a.f32("invBeta", invBeta, x.shape().dim(1));
        a.f32("out", out, x.shape().toArray());
        a.sameOrDisjoint("x", x, out);
    }

    void channelAffine(Tensor x, Tensor scale, Tensor shift, Tensor out) {
        Arguments a = new Arguments("channelAffine", device);
        a.floats("x", x);
        a.require(x.rank() >= 1, "x", x, "at least one axis");
        a.vector("scale", Optional.of(scale), x.shape().dim(0));
        a.vector("shift", Optional.of(shift), x.shape().dim(0));
        output(a, "x", x, out);
        a.disjoint("scale", scale, out);
        a.disjoint("shift", shift, out);
    }

    void clamp(Tensor x, float low, float high, Tensor out) {
        unary("clamp", x, out);
        new Arguments("clamp", device).require(low <= high, "low", low, "at most high " + high);
    }
}
