package io.kinema.cuda.ops;

import io.kinema.compute.DenseWeight;
import io.kinema.compute.NormOps.HeadNorm;
import io.kinema.compute.NormOps.Rotary;
import io.kinema.compute.Operand;
import io.kinema.compute.Tensor;
import io.kinema.compute.Weight;
import io.kinema.compute.Workspace;
import io.kinema.cuda.driver.GpuContext;
import io.kinema.cuda.driver.GpuFunction.Grid;
import io.kinema.cuda.driver.TensorMap;
import io.kinema.cuda.kernel.TypeCode;
import io.kinema.cuda.ops.ProductForm.Step;
import io.kinema.weights.DType;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Matrix products by Kinema's own kernels for SM90, which do what follows a product before its values leave the registers. Owns the
 * descriptions of operands until it is closed; closing twice is harmless. Used by one thread.
 */
public final class FusedProducts implements AutoCloseable {
    /** Rows of a result that leave at once. */
    private static final int OUTLET_ROWS = 16;
    private static final int ROW_BLOCK = 256;
    private static final int HEAD_CHANNELS = 64;
    private static final int TURNED_CHANNELS = 48;
    private static final int VECTOR = 8;
    private static final int VECTOR_BYTES = 16;

    private final OpContext c;
    private final TensorMap rows;
    private final TensorMap weight;
    private final TensorMap result;
    private final Map<String, String> choices = new TreeMap<>();

    public FusedProducts(OpContext context, GpuContext gpu) {
        this.c = context;
        this.rows = new TensorMap(gpu);
        this.weight = new TensorMap(gpu);
        this.result = new TensorMap(gpu);
    }

    /** What a kernel is told beside its operands; the order is that of the structure in product_outlet.cuh. */
    private record Product(long rowScale, long bias, Tensor out, long gate, long cosine, long sine, long tableStride, long largest, long again,
                           int columns, int gateRow, int upRow, int rowsPerToken, float eps, long scales) {
        static Product of(Operand x, Optional<Tensor> bias, Tensor out, int columns) {
            return new Product(address(x.rowScale()), address(bias), out, 0, 0, 0, 0, 0, 0, columns, 0, 0, 1, 0, 0);
        }

        Product gated(Tensor table) {
            return new Product(rowScale, bias, out, table.data().address(), 0, 0, 0, 0, 0, columns, 0, 0, 1, 0, 0);
        }

        Product halves(int gateAt, int upAt, long largestOf) {
            return new Product(rowScale, bias, out, 0, 0, 0, 0, largestOf, 0, columns, gateAt, upAt, 1, 0, 0);
        }

        Product again(Tensor flags, Tensor rowScales) {
            return new Product(rowScale, bias, out, 0, 0, 0, 0, largest, flags.data().address(), columns, gateRow, upRow, 1, 0, rowScales.data().address());
        }

        Product turned(Rotary rotary, float epsilon, int perToken) {
            return new Product(rowScale, bias, out, 0, rotary.cos().data().address(), rotary.sin().data().address(), rotary.cos().stride(0), 0, 0,
                    columns, 0, 0, perToken, epsilon, 0);
        }

        private static long address(Optional<Tensor> t) {
            return t.map(x -> x.data().address()).orElse(0L);
        }
    }

    /** True for 16-bit rows and a dense weight of the same type, laid out as the copy engine reads them, and an FP32 bias. */
    public boolean takes(Operand x, Weight w, Optional<Tensor> bias) {
        return w instanceof DenseWeight dense && x.rotation().equals(w.rotation()) && x.values().dtype() != DType.F32
                && dense.values().dtype() == x.values().dtype() && x.values().size(0) > 0 && x.values().size(1) == w.inFeatures()
                && aligned(x.values()) && aligned(dense.values()) && w.outFeatures() % VECTOR == 0
                && bias.map(b -> b.dtype() == DType.F32 && b.contiguous() && b.size(0) == w.outFeatures() && b.data().address() % VECTOR == 0).orElse(true);
    }

    /** Rows of 16-byte pieces. */
    private static boolean aligned(Tensor t) {
        return t.size(1) % VECTOR == 0 && t.stride(1) == 1 && t.stride(0) % VECTOR == 0 && t.data().address() % VECTOR_BYTES == 0;
    }

    /** True where a result can be written in whole vectors. */
    private static boolean writable(Tensor out) {
        return out.stride(-1) == 1 && out.stride(0) % VECTOR == 0 && out.data().address() % VECTOR_BYTES == 0;
    }

    /** {@code out = x w^T * rowScale + bias}, if it takes the output; false when it does not. */
    public boolean store(Operand x, Weight w, Optional<Tensor> bias, Tensor out) {
        boolean fits = writable(out) && (out.dtype() == DType.F32 || out.dtype() == x.values().dtype());
        if (fits) {
            launch(Step.STORE, x, w, Product.of(x, bias, out, w.outFeatures()));
        }
        return fits;
    }

    /** As {@link io.kinema.compute.FusedOps#linearResidual}; false when it does not take the gate or the residual. */
    public boolean residual(Operand x, Weight w, Optional<Tensor> bias, Tensor gate, Tensor residual) {
        boolean fits = writable(residual) && residual.dtype() == DType.F32 && residual.size(1) == w.outFeatures() && residual.size(0) == x.values().size(0)
                && gate.dtype() == DType.F32 && gate.size(0) == 1 && gate.size(1) == w.outFeatures() && gate.data().address() % VECTOR == 0;
        if (fits) {
            launch(Step.RESIDUAL, x, w, Product.of(x, bias, residual, w.outFeatures()).gated(gate));
        }
        return fits;
    }

    /**
     * As {@link io.kinema.compute.FusedOps#linearSwiglu} for a target of the operands' type. An FP16 result is first stored without row
     * scales while the rows' largest magnitudes are noted; the few blocks of rows that turn out to need a scale are computed again.
     */
    public Operand swiglu(Operand x, Weight w, Optional<Tensor> bias, boolean gateFirst, Workspace ws) {
        int inner = w.outFeatures() / 2;
        int m = x.values().size(0);
        boolean scaled = x.values().dtype() == DType.F16;
        Tensor values = ws.allocate(x.values().dtype(), m, inner);
        Optional<Tensor> scale = scaled ? Optional.of(ws.f32(m)) : Optional.empty();
        try (Workspace.Frame _ = c.scratch().frame()) {
            Tensor largest = c.scratch().f32(m);
            Product product = Product.of(x, bias, values, inner)
                    .halves(gateFirst ? 0 : inner, gateFirst ? inner : 0, scaled ? largest.data().address() : 0);
            if (scaled) {
                StridedMoves.fill(c, largest, 0);
            }
            launch(Step.SWIGLU, x, w, product);
            scale.ifPresent(s -> scaleRows(x, w, product, largest, s));
        }
        return new Operand(values, scale);
    }

    private void scaleRows(Operand x, Weight w, Product product, Tensor largest, Tensor scale) {
        int m = scale.size(0);
        Tensor flags = c.scratch().allocate(DType.I32, Math.ceilDiv(m, ROW_BLOCK));
        c.launcher().arguments().tensor(largest).tensor(scale).tensor(flags).i64(m);
        c.launcher().launch("kinema_row_scales", Grid.of(Math.ceilDiv(m, ROW_BLOCK), ROW_BLOCK));
        launch(Step.SWIGLU, x, w, product.again(flags, scale));
    }

    /** As {@link io.kinema.compute.FusedOps#linearHeads}; false when it does not take the heads. */
    public boolean heads(Operand x, Weight w, Optional<Tensor> bias, HeadNorm norm, Rotary rotary, Tensor out) {
        int m = x.values().size(0);
        int tokens = out.size(0);
        boolean fits = out.contiguous() && out.size(2) == HEAD_CHANNELS && out.dtype() == x.values().dtype() && out.data().address() % VECTOR_BYTES == 0
                && w.outFeatures() % HEAD_CHANNELS == 0 && out.elements() == (long) m * w.outFeatures() && m % tokens == 0
                && norm.weight().isEmpty() && table(rotary.cos(), tokens) && table(rotary.sin(), tokens) && rotary.cos().stride(0) == rotary.sin().stride(0);
        if (fits) {
            Tensor flat = out.reshape(m, w.outFeatures());
            launch(Step.HEADS, x, w, Product.of(x, bias, flat, w.outFeatures()).turned(rotary, norm.eps(), m / tokens));
        }
        return fits;
    }

    private static boolean table(Tensor t, int tokens) {
        return t.dtype() == DType.F32 && t.size(0) == tokens && t.size(1) == TURNED_CHANNELS && t.stride(0) % 2 == 0 && t.data().address() % VECTOR == 0;
    }

    private void launch(Step step, Operand x, Weight w, Product p) {
        Tensor in = x.values();
        Tensor matrix = ((DenseWeight) w).values();
        Tensor out = p.out();
        ProductForm form = ProductForm.of(step);
        TileOrder tiles = TileOrder.of(form, step, c.gpu(), in.size(0), p.columns(), in.size(1));
        String kernel = ProductForm.kernel(in.dtype(), step);
        c.launcher().arguments()
                .map(described(rows, in, form.tileRows()))
                .map(described(weight, matrix, form.weightRows()))
                .map(described(result, out, OUTLET_ROWS))
                .struct(new long[] {p.rowScale(), p.bias(), out.data().address(), pitch(out), p.gate(), p.cosine(), p.sine(), p.tableStride(),
                    p.largest(), p.again()}, in.size(0), p.columns(), in.size(1), TypeCode.of(out.dtype()), p.gateRow(), p.upRow(),
                    p.rowsPerToken(), Float.floatToRawIntBits(p.eps()), tiles.together())
                .address(p.scales());
        c.launcher().launch(kernel, Grid.of((long) form.blocks() * tiles.clusters(), form.threads()), form.sharedBytes());
        choices.putIfAbsent(in.size(0) + "x" + matrix.size(0) + "x" + matrix.size(1) + " " + in.dtype() + ", " + step.name().toLowerCase(Locale.ROOT), kernel);
    }

    private static TensorMap described(TensorMap map, Tensor t, int boxRows) {
        return map.describe(t.data().address(), t.dtype(), t.size(0), t.size(1), pitch(t), boxRows);
    }

    /** The stride of rows, where there is but one of them their width. */
    private static long pitch(Tensor t) {
        return t.size(0) <= 1 ? Math.ceilDiv(t.size(1), VECTOR) * (long) VECTOR : t.stride(0);
    }

    /** Shape and what follows to the kernel that computes it. */
    public Map<String, String> choices() {
        return choices;
    }

    @Override
    public void close() {
        rows.close();
        weight.close();
        result.close();
    }
}
