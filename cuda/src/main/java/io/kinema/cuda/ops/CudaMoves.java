package io.kinema.cuda.ops;

import io.kinema.compute.Device;
import io.kinema.compute.HostWorkspace;
import io.kinema.compute.MoveOps;
import io.kinema.compute.Tensor;
import io.kinema.compute.Workspace;
import io.kinema.compute.reference.ReferenceBackend;
import io.kinema.cuda.kernel.Launches;
import io.kinema.cuda.kernel.StridedPair;
import io.kinema.weights.DType;

/** Copies within the device and across, gathers and blends. What lies on the host on both sides is done there. */
public final class CudaMoves implements MoveOps {
    private final OpContext c;
    private final MoveOps host = new ReferenceBackend();

    public CudaMoves(OpContext context) {
        this.c = context;
    }

    private static boolean onHost(Tensor t) {
        return t.device().kind() == Device.Kind.CPU;
    }

    @Override
    public void copy(Tensor src, Tensor dst) {
        if (src.elements() == 0) {
            return;
        }
        if (onHost(src) && onHost(dst)) {
            host.copy(src, dst);
        } else if (onHost(src)) {
            upload(src, dst);
        } else if (onHost(dst)) {
            download(src, dst);
        } else {
            StridedMoves.copy(c, src, dst);
        }
    }

    private void upload(Tensor src, Tensor dst) {
        if (!src.contiguous()) {
            try (Workspace packed = HostWorkspace.create("upload")) {
                Tensor copy = packed.allocate(src.dtype(), src.shape().toArray());
                host.copy(src, copy);
                upload(copy, dst);
                c.stream().synchronize();
            }
        } else if (dst.contiguous() && src.dtype() == dst.dtype()) {
            c.stream().upload(src.data(), dst.data().address(), src.elements() * src.dtype().bytes());
        } else {
            try (Workspace.Frame _ = c.scratch().frame()) {
                Tensor copy = c.scratch().allocate(src.dtype(), src.shape().toArray());
                upload(src, copy);
                StridedMoves.copy(c, copy, dst);
            }
        }
    }

    /** The bytes are there when this returns: whoever asked for them will read them. */
    private void download(Tensor src, Tensor dst) {
        if (!dst.contiguous()) {
            try (Workspace packed = HostWorkspace.create("download")) {
                Tensor copy = packed.allocate(dst.dtype(), dst.shape().toArray());
                download(src, copy);
                host.copy(copy, dst);
            }
        } else if (src.contiguous() && src.dtype() == dst.dtype()) {
            c.stream().download(src.data().address(), dst.data(), src.elements() * src.dtype().bytes());
            c.stream().synchronize();
        } else {
            try (Workspace.Frame _ = c.scratch().frame()) {
                Tensor copy = c.scratch().allocate(dst.dtype(), dst.shape().toArray());
                StridedMoves.copy(c, src, copy);
                download(copy, dst);
            }
        }
    }

    @Override
    public void fill(Tensor dst, float value) {
        if (onHost(dst)) {
            host.fill(dst, value);
        } else {
            StridedMoves.fill(c, dst, value);
        }
    }

    @Override
    public void gatherRows(Tensor src, Tensor index, Tensor dst) {
        rows("kinema_gather_rows", src, index, dst, dst.size(0));
    }

    @Override
    public void scatterRows(Tensor src, Tensor index, Tensor dst) {
        rows("kinema_scatter_rows", src, index, dst, src.size(0));
    }

    private void rows(String kernel, Tensor src, Tensor index, Tensor dst, long rows) {
        if (rows == 0 || dst.size(1) == 0) {
            return;
        }
        c.launcher().arguments().tensor(src).i64(src.stride(0)).type(src.dtype()).tensor(index).tensor(dst).i64(dst.stride(0)).type(dst.dtype())
                .i64(rows).i64(dst.size(1));
        c.launcher().launch(kernel, Launches.elements(rows, dst.size(1)));
    }

    @Override
    public void crossFade(Tensor a, Tensor b, int dim, Tensor out) {
        if (out.elements() == 0) {
            return;
        }
        if (onHost(a) && onHost(b) && onHost(out)) {
            host.crossFade(a, b, dim, out);
            return;
        }
        try (Workspace.Frame _ = c.scratch().frame()) {
            Tensor x = onDevice(a);
            Tensor y = onDevice(b);
            Tensor to = onHost(out) ? c.scratch().allocate(DType.F32, out.shape().toArray()) : out;
            fade(x, y, dim < 0 ? dim + a.rank() : dim, to);
            if (onHost(out)) {
                download(to, out);
            }
        }
    }

    private Tensor onDevice(Tensor t) {
        if (!onHost(t)) {
            return t;
        }
        Tensor copy = c.scratch().allocate(t.dtype(), t.shape().toArray());
        upload(t, copy);
        return copy;
    }

    private void fade(Tensor a, Tensor b, int axis, Tensor out) {
        int most = StridedPair.MOST_AXES;
        int skip = most - a.rank();
        if (skip < 0) {
            throw new IllegalArgumentException("crossFade: a got " + a + ", expected at most " + most + " axes");
        }
        long[] packed = new long[4 * most];
        for (int i = 0; i < most; i++) {
            packed[i] = i < skip ? 1 : a.shape().dim(i - skip);
            packed[most + i] = i < skip ? 0 : a.stride(i - skip);
            packed[2 * most + i] = i < skip ? 0 : b.stride(i - skip);
            packed[3 * most + i] = i < skip ? 0 : out.stride(i - skip);
        }
        c.launcher().arguments().tensor(a).tensor(b).tensor(out).struct(packed, a.rank(), skip + axis).i64(out.elements());
        c.launcher().launch("kinema_cross_fade", Launches.loop(out.elements()));
    }
}
