package io.kinema.cuda.ops;

import io.kinema.compute.DenseWeight;
import io.kinema.compute.EncodedWeight;
import io.kinema.compute.Int8Weight;
import io.kinema.compute.LinearEpilogue;
import io.kinema.compute.LinearEpilogue.ScaledDelta;
import io.kinema.compute.LinearOps;
import io.kinema.compute.MoveOps;
import io.kinema.compute.Operand;
import io.kinema.compute.Rotation;
import io.kinema.compute.Tensor;
import io.kinema.compute.Weight;
import io.kinema.compute.Workspace;
import io.kinema.cuda.blas.CublasLt;
import io.kinema.cuda.blas.MatmulShape;
import io.kinema.cuda.kernel.Launches;
import io.kinema.cuda.kernel.RowView;
import io.kinema.weights.DType;
import java.util.Optional;
import java.util.Set;

/**
 * Matrix products by cuBLASLt. Weights whose values the product cannot read as they are stored are decoded or widened some
 * rows at a time into scratch memory.
 */
public final class CudaLinear implements LinearOps {
    /** Most bytes of decoded weight at a time. */
    private static final long PART_BYTES = 512L << 20;
    private static final int MOST_ALIGNMENT = 256;
    private static final Set<Integer> FAST_GROUPS = Set.of(16, 64, 256);

    private final OpContext c;
    private final CublasLt blas;
    private final Optional<FusedProducts> own;
    private final MoveOps moves;
    private final long workspace;

    /**
     * @param own       Kinema's own products, which compute whatever is more than a bare product, where they take it
     * @param workspace address of {@link CublasLt#WORKSPACE_BYTES} of device memory for products alone
     */
    public CudaLinear(OpContext context, CublasLt blas, Optional<FusedProducts> own, MoveOps moves, long workspace) {
        this.c = context;
        this.blas = blas;
        this.own = own;
        this.moves = moves;
        this.workspace = workspace;
    }

    @Override
    public void linear(Operand x, Weight w, LinearEpilogue epilogue, Tensor out) {
        if (out.elements() == 0) {
            return;
        }
        try (Workspace.Frame _ = c.scratch().frame()) {
            DType operand = operandType(x.values(), w);
            boolean scaled = x.rowScale().isPresent() || !epilogue.deltas().isEmpty();
            boolean wide = out.dtype() == DType.F32;
            boolean fusedBias = !scaled && wide && epilogue.bias().isPresent() && epilogue.bias().get().dtype() == DType.F32;
            boolean plain = !scaled && (fusedBias || epilogue.bias().isEmpty());
            boolean bare = plain && epilogue.bias().isEmpty();
            if (!bare && epilogue.deltas().isEmpty() && own.filter(p -> p.takes(x, w, epilogue.bias()) && p.store(x, w, epilogue.bias(), out)).isPresent()) {
                return;
            }
            Tensor y = wide || plain && out.dtype() == operand ? out : c.scratch().f32(out.size(0), out.size(1));
            product(converted(x.values(), operand), w, operand, fusedBias ? epilogue.bias() : Optional.empty(), y);
            if (!plain) {
                finish(y, x.rowScale(), epilogue, out);
            } else if (y != out) {
                StridedMoves.copy(c, y, out);
            }
        }
    }

    /** The type that both sides of a product have: the rows' own where the weight has it too or is decoded to it, else FP32. */
    private static DType operandType(Tensor x, Weight w) {
        return w instanceof DenseWeight dense && dense.values().dtype() != x.dtype() ? DType.F32 : x.dtype();
    }

    private Tensor converted(Tensor t, DType dtype) {
        if (t.dtype() == dtype) {
            return t;
        }
        Tensor copy = c.scratch().allocate(dtype, t.shape().toArray());
        StridedMoves.copy(c, t, copy);
        return copy;
    }

    private void product(Tensor x, Weight w, DType operand, Optional<Tensor> bias, Tensor y) {
        if (w instanceof DenseWeight dense && dense.values().dtype() == operand) {
            multiply(x, dense.values(), bias, y);
            return;
        }
        int each = (int) Math.clamp(PART_BYTES / Math.max(1, (long) w.inFeatures() * operand.bytes()), 1, w.outFeatures());
        for (int from = 0; from < w.outFeatures(); from += each) {
            int to = Math.min(w.outFeatures(), from + each);
            int first = from;
            try (Workspace.Frame _ = c.scratch().frame()) {
                Tensor part = part(w, from, to, operand);
                multiply(x, part, bias.map(b -> b.slice(0, first, to)), y.slice(1, from, to));
            }
        }
    }

    /** Rows [from, to) of a weight as floats of the operand's type. */
    private Tensor part(Weight w, int from, int to, DType operand) {
        Tensor part = c.scratch().allocate(operand, to - from, w.inFeatures());
        switch (w) {
            case DenseWeight dense -> StridedMoves.copy(c, dense.values().rows(from, to), part);
            case Int8Weight int8 -> {
                Tensor q = int8.values().rows(from, to);
                c.launcher().arguments().tensor(q).i64(q.stride(0)).tensor(int8.scales().rows(from, to)).tensor(part).i64(part.stride(0)).type(operand)
                        .i64(part.size(0)).i64(part.size(1));
                c.launcher().launch("kinema_decode_rows", Launches.elements(part.size(0), part.size(1)));
            }
            case EncodedWeight encoded -> {
                float[] values = new float[Math.toIntExact(part.elements())];
                encoded.matrix().decode(from, to, values, 0);
                moves.copy(Tensor.ofFloats(values, part.shape().toArray()), part);
            }
        }
        return part;
    }

    private void multiply(Tensor x, Tensor w, Optional<Tensor> bias, Tensor out) {
        boolean byColumn = w.size(1) > 1 && w.stride(1) != 1;
        long wPitch = byColumn ? pitch(w.size(1), w.stride(1), w.size(0)) : pitch(w.size(0), w.stride(0), w.size(1));
        long biasAddress = bias.map(b -> b.data().address()).orElse(0L);
        MatmulShape shape = new MatmulShape(out.size(0), out.size(1), x.size(1), x.dtype(), out.dtype(), pitch(x.size(0), x.stride(0), x.size(1)), wPitch,
                pitch(out.size(0), out.stride(0), out.size(1)), byColumn, bias.isPresent(),
                alignment(x.data().address() | w.data().address() | out.data().address() | biasAddress));
        blas.multiply(shape, x.data().address(), w.data().address(), biasAddress, out.data().address(), workspace, c.stream());
    }

    /** The stride of lines, where there is but one of them their width. */
    private static long pitch(int lines, long stride, long width) {
        return lines <= 1 ? Math.max(1, width) : stride;
    }

    private static int alignment(long addresses) {
        return (int) Math.min(MOST_ALIGNMENT, addresses == 0 ? MOST_ALIGNMENT : Long.lowestOneBit(addresses));
    }

    /** Row scale, bias and deltas on the FP32 product, in this order, then the store. */
    private void finish(Tensor y, Optional<Tensor> rowScale, LinearEpilogue epilogue, Tensor out) {
        boolean oneWholeDelta = epilogue.deltas().size() == 1 && epilogue.deltas().getFirst().values().size(1) == out.size(1);
        if (oneWholeDelta || epilogue.deltas().isEmpty()) {
            epilogue(y, rowScale, epilogue.bias(), epilogue.deltas().stream().findFirst(), out);
            return;
        }
        if (rowScale.isPresent() || epilogue.bias().isPresent()) {
            epilogue(y, rowScale, epilogue.bias(), Optional.empty(), y);
        }
        for (ScaledDelta delta : epilogue.deltas()) {
            Tensor to = y.slice(1, delta.column(), (long) delta.column() + delta.values().size(1));
            RowView rows = OpContext.rows(to);
            c.launcher().arguments().rows(OpContext.rows(delta.values())).f32(delta.factor()).rows(rows).i64(rows.rows()).i64(rows.width());
            c.launcher().launch("kinema_add_scaled", Launches.elements(rows.rows(), rows.width()));
        }
        if (y != out) {
            StridedMoves.copy(c, y, out);
        }
    }

    private void epilogue(Tensor y, Optional<Tensor> rowScale, Optional<Tensor> bias, Optional<ScaledDelta> delta, Tensor out) {
        c.launcher().arguments().tensor(y).i64(y.stride(0)).tensor(rowScale).tensor(bias).type(bias)
                .tensor(delta.map(ScaledDelta::values)).i64(delta.map(d -> d.values().stride(0)).orElse(0L)).f32(delta.map(ScaledDelta::factor).orElse(0f))
                .tensor(out).i64(out.stride(0)).type(out.dtype()).i64(out.size(0)).i64(out.size(1));
        c.launcher().launch("kinema_epilogue", Launches.elements(out.size(0), out.size(1)));
    }

    @Override
    public Operand prepare(Tensor x, DType target, Workspace ws) {
        if (x.dtype() == target) {
            return Operand.of(x);
        }
        Tensor values = ws.allocate(target, x.size(0), x.size(1));
        if (target != DType.F16) {
            StridedMoves.copy(c, x, values);
            return Operand.of(values);
        }
        Tensor scale = ws.f32(x.size(0));
        if (values.elements() > 0) {
            c.launcher().arguments().tensor(x).i64(x.stride(0)).tensor(values).i64(values.stride(0)).tensor(scale).i64(x.size(0)).i64(x.size(1));
            c.launcher().launch("kinema_prepare_f16", Launches.rows(x.size(0), x.size(1)));
        }
        return new Operand(values, Optional.of(scale));
    }

    /** SwiGLU straight into an FP16 operand: the FP32 values are never stored. */
    public Operand prepareSwigluF16(Tensor gate, Tensor up, Workspace ws) {
        Tensor values = ws.allocate(DType.F16, gate.size(0), gate.size(1));
        Tensor scale = ws.f32(gate.size(0));
        if (values.elements() > 0) {
            c.launcher().arguments().tensor(gate).i64(gate.stride(0)).tensor(up).i64(up.stride(0)).type(gate.dtype()).tensor(values).i64(values.stride(0))
                    .tensor(scale).i64(gate.size(0)).i64(gate.size(1));
            c.launcher().launch("kinema_swiglu_prepare_f16", Launches.rows(gate.size(0), gate.size(1)));
        }
        return new Operand(values, Optional.of(scale));
    }

    @Override
    public Operand rotate(Operand x, Rotation rotation, Workspace ws) {
        Tensor in = x.values();
        Tensor out = ws.allocate(in.dtype(), in.size(0), in.size(1));
        if (out.elements() > 0 && FAST_GROUPS.contains(rotation.group())) {
            c.launcher().arguments().tensor(in).i64(in.stride(0)).type(in.dtype()).tensor(out).i64(out.stride(0)).type(out.dtype())
                    .i64(in.size(0)).i64(in.size(1)).i32(rotation.group());
            c.launcher().launch("kinema_rotate", Launches.loop(Math.ceilDiv(out.elements(), 16)));
        } else if (out.elements() > 0) {
            rotateByProduct(in, rotation, out);
        }
        return new Operand(out, x.rowScale(), Optional.of(rotation));
    }

    /** Any group: every run of {@code group} values as a row times the FP32 matrix itself, which is symmetric. */
    private void rotateByProduct(Tensor in, Rotation rotation, Tensor out) {
        int group = rotation.group();
        float[] entries = new float[group * group];
        for (int i = 0; i < entries.length; i++) {
            entries[i] = rotation.entry(i / group, i % group);
        }
        try (Workspace.Frame _ = c.scratch().frame()) {
            Tensor matrix = c.scratch().f32(group, group);
            moves.copy(Tensor.ofFloats(entries, group, group), matrix);
            Tensor wide = c.scratch().f32(in.shape().toArray());
            StridedMoves.copy(c, in, wide);
            Tensor rotated = c.scratch().f32(in.shape().toArray());
            multiply(wide.reshape(-1, group), matrix, Optional.empty(), rotated.reshape(-1, group));
            StridedMoves.copy(c, rotated, out);
        }
    }
}
