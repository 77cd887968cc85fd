package io.kinema.compute.check;

import io.kinema.compute.Device;
import io.kinema.compute.Tensor;
import io.kinema.weights.DType;

/** Arguments of {@link io.kinema.compute.MoveOps}. */
record MoveChecks(Device device) {

    void copy(Tensor src, Tensor dst) {
        Arguments a = new Arguments("copy", device);
        a.sameShape("src", src, dst);
        convertible(a, src, dst);
        reachable(a, "src", src);
        reachable(a, "dst", dst);
        a.disjoint("src", src, dst);
    }

    void fill(Tensor dst) {
        Arguments a = new Arguments("fill", device);
        a.require(isWideFloat(dst.dtype()), "dst", dst, "F64, F32, F16 or BF16");
        reachable(a, "dst", dst);
    }

    void gatherRows(Tensor src, Tensor index, Tensor dst) {
        Arguments a = new Arguments("gatherRows", device);
        rows(a, src, dst);
        a.index("index", index, dst.size(0), src.size(0));
    }

    void scatterRows(Tensor src, Tensor index, Tensor dst) {
        Arguments a = new Arguments("scatterRows", device);
        rows(a, src, dst);
        a.index("index", index, src.size(0), dst.size(0));
    }

    private static void rows(Arguments a, Tensor src, Tensor dst) {
        a.require(src.rank() == 2, "src", src, "2 axes");
        a.placed("src", src);
        a.placed("dst", dst);
        if (dst.rank() != 2 || dst.size(1) != src.size(1)) {
            a.fail("dst", dst, "rows of " + src.size(1));
        }
        convertible(a, src, dst);
        a.disjoint("src", src, dst);
    }

    void crossFade(Tensor x, Tensor y, int dim, Tensor out) {
        Arguments a = new Arguments("crossFade", device);
        if (dim < -x.rank() || dim >= x.rank()) {
            a.fail("dim", dim, "an axis of " + x);
        }
        fadable(a, "a", x);
        fadable(a, "b", y);
        fadable(a, "out", out);
        a.sameShape("b", y, x);
        a.sameShape("out", out, x);
        a.sameOrDisjoint("a", x, out);
        a.sameOrDisjoint("b", y, out);
    }

    private void fadable(Arguments a, String name, Tensor t) {
        a.require(t.dtype() == DType.F32, name, t, "F32");
        reachable(a, name, t);
        a.contiguousRows(name, t);
    }

    private static void convertible(Arguments a, Tensor src, Tensor dst) {
        if (src.dtype() != dst.dtype() && !(isWideFloat(src.dtype()) && isWideFloat(dst.dtype()))) {
            a.fail("src", src, "the dtype of dst " + dst.dtype() + ", or F64, F32, F16 or BF16 on both sides");
        }
    }

    /** On this device, or on the host (copies cross). */
    private void reachable(Arguments a, String name, Tensor t) {
        if (!t.device().equals(device) && t.device().kind() != Device.Kind.CPU) {
            a.fail(name, t, "a tensor on " + device + " or the host");
        }
    }

    private static boolean isWideFloat(DType dtype) {
        return dtype == DType.F64 || Arguments.isFloat(dtype);
    }
}
