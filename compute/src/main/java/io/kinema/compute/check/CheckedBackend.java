package io.kinema.compute.check;

import io.kinema.compute.AttentionOps;
import io.kinema.compute.Backend;
import io.kinema.compute.ConvolutionOps;
import io.kinema.compute.Device;
import io.kinema.compute.ElementwiseOps;
import io.kinema.compute.LinearEpilogue;
import io.kinema.compute.LinearOps;
import io.kinema.compute.MoveOps;
import io.kinema.compute.NormOps;
import io.kinema.compute.Operand;
import io.kinema.compute.Rotation;
import io.kinema.compute.Tensor;
import io.kinema.compute.Weight;
import io.kinema.compute.Workspace;
import io.kinema.compute.event.TransferEvent;
import io.kinema.weights.DType;
import java.util.Optional;

/**
 * Owns nothing itself: checks every argument by the rules of {@link Backend}, the same for all backends, and then calls
 * the group of kernels that a backend gave it. Kernels may therefore trust shapes, dtypes and layouts.
 * Operations after {@link #close()} throw {@link IllegalStateException}.
 */
public abstract class CheckedBackend implements Backend {
    private final Kernels kernels;
    private final LinearChecks linearChecks;
    private final NormChecks normChecks;
    private final ElementwiseChecks elementwiseChecks;
    private final ConvolutionChecks convolutionChecks;
    private final MoveChecks moveChecks;
    private final Device device;
    private volatile boolean closed;

    /** The kernels of one backend, by group. */
    public record Kernels(LinearOps linear, NormOps norms, AttentionOps attention, ElementwiseOps elementwise,
                          ConvolutionOps convolutions, MoveOps moves) {
    }

    /** @param device where all tensors must lie */
    protected CheckedBackend(Device device, Kernels kernels) {
        this.device = device;
        this.kernels = kernels;
        this.linearChecks = new LinearChecks(device);
        this.normChecks = new NormChecks(device);
        this.elementwiseChecks = new ElementwiseChecks(device);
        this.convolutionChecks = new ConvolutionChecks(device);
        this.moveChecks = new MoveChecks(device);
    }

    @Override
    public final Device device() {
        return device;
    }

    /** The kernels. @throws IllegalStateException when the backend is closed */
    protected final Kernels kernels() {
        if (closed) {
            throw new IllegalStateException("backend " + name() + " is closed");
        }
        enter();
        return kernels;
    }

    /** Called before every operation, on the thread that calls it: for a device that must be made current there. */
    protected void enter() {
    }

    @Override
    public void close() {
        closed = true;
    }

    @Override
    public final void linear(Operand x, Weight w, LinearEpilogue epilogue, Tensor out) {
        linearChecks.linear(x, w, epilogue, out);
        kernels().linear().linear(x, w, epilogue, out);
    }

    @Override
    public final Operand rotate(Operand x, Rotation rotation, Workspace ws) {
        linearChecks.rotate(x, rotation);
        return kernels().linear().rotate(x, rotation, ws);
    }

    @Override
    public final Operand prepare(Tensor x, DType target, Workspace ws) {
        linearChecks.prepare(x, target);
        return kernels().linear().prepare(x, target, ws);
    }

    @Override
    public final void rmsNorm(Tensor x, Optional<Tensor> weight, float eps, Tensor out) {
        normChecks.rmsNorm(x, weight, out);
        kernels().norms().rmsNorm(x, weight, eps, out);
    }

    @Override
    public final void rmsNormModulate(Tensor x, Tensor weight, float eps, RowModulation modulation, Tensor out) {
        normChecks.rmsNormModulate(x, weight, modulation, out);
        kernels().norms().rmsNormModulate(x, weight, eps, modulation, out);
    }

    @Override
    public final void layerNorm(Tensor x, Optional<Tensor> weight, Optional<Tensor> bias, float eps, Tensor out) {
        normChecks.layerNorm(x, weight, bias, out);
        kernels().norms().layerNorm(x, weight, bias, eps, out);
    }

    @Override
    public final void groupNormPerFrame(Tensor x, int groups, Tensor weight, Tensor bias, float eps, boolean silu, Tensor out) {
        normChecks.groupNormPerFrame(x, groups, weight, bias, out);
        kernels().norms().groupNormPerFrame(x, groups, weight, bias, eps, silu, out);
    }

    @Override
    public final void headNormRotary(Tensor x, Optional<HeadNorm> norm, Optional<Rotary> rotary, Tensor out) {
        normChecks.headNormRotary(x, norm, rotary, out);
        kernels().norms().headNormRotary(x, norm, rotary, out);
    }

    @Override
    public final void attention(Tensor q, Tensor k, Tensor v, float scale, boolean causal, Tensor out) {
        AttentionChecks.attention(device, q, k, v, out);
        kernels().attention().attention(q, k, v, scale, causal, out);
    }

    @Override
    public final void swiglu(Tensor gate, Tensor up, Tensor out) {
        elementwiseChecks.binary("swiglu", "gate", gate, "up", up, out);
        kernels().elementwise().swiglu(gate, up, out);
    }

    @Override
    public final void geglu(Tensor gate, Tensor up, Tensor out) {
        elementwiseChecks.binary("geglu", "gate", gate, "up", up, out);
        kernels().elementwise().geglu(gate, up, out);
    }

    @Override
    public final void silu(Tensor x, Tensor out) {
        elementwiseChecks.unary("silu", x, out);
        kernels().elementwise().silu(x, out);
    }

    @Override
    public final void geluTanh(Tensor x, Tensor out) {
        elementwiseChecks.unary("geluTanh", x, out);
        kernels().elementwise().geluTanh(x, out);
    }

    @Override
    public final void geluErf(Tensor x, Tensor out) {
        elementwiseChecks.unary("geluErf", x, out);
        kernels().elementwise().geluErf(x, out);
    }

    @Override
    public final void add(Tensor a, Tensor b, Tensor out) {
        elementwiseChecks.binary("add", "a", a, "b", b, out);
        kernels().elementwise().add(a, b, out);
    }

    @Override
    public final void scale(Tensor x, float factor, Tensor out) {
        elementwiseChecks.unary("scale", x, out);
        kernels().elementwise().scale(x, factor, out);
    }

    @Override
    public final void addScaled(Tensor x, float factor, Tensor out) {
        elementwiseChecks.addScaled(x, out);
        kernels().elementwise().addScaled(x, factor, out);
    }

    @Override
    public final void gatedResidualAdd(Tensor residual, Tensor x, Optional<RowGate> gate) {
        elementwiseChecks.gatedResidualAdd(residual, x, gate);
        kernels().elementwise().gatedResidualAdd(residual, x, gate);
    }

    @Override
    public final void snake(Tensor x, Tensor alpha, Tensor invBeta, Tensor out) {
        elementwiseChecks.snake(x, alpha, invBeta, out);
        kernels().elementwise().snake(x, alpha, invBeta, out);
    }

    @Override
    public final void channelAffine(Tensor x, Tensor scale, Tensor shift, Tensor out) {
        elementwiseChecks.channelAffine(x, scale, shift, out);
        kernels().elementwise().channelAffine(x, scale, shift, out);
    }

    @Override
    public final void clamp(Tensor x, float low, float high, Tensor out) {
        elementwiseChecks.clamp(x, low, high, out);
        kernels().elementwise().clamp(x, low, high, out);
    }

    @Override
    public final void conv1d(Tensor x, Conv1d conv, Tensor out) {
        convolutionChecks.conv1d(x, conv, out);
        kernels().convolutions().conv1d(x, conv, out);
    }

    @Override
    public final void convTranspose1d(Tensor x, Tensor w, Optional<Tensor> bias, int stride, int padding, Tensor out) {
        convolutionChecks.convTranspose1d(x, w, bias, stride, padding, out);
        kernels().convolutions().convTranspose1d(x, w, bias, stride, padding, out);
    }

    @Override
    public final void conv3d(Tensor x, Conv3d conv, Tensor out) {
        convolutionChecks.conv3d(x, conv, out);
        kernels().convolutions().conv3d(x, conv, out);
    }

    @Override
    public final void antiAliasedSnake(Tensor x, AntiAlias filters, Tensor alpha, Tensor invBeta, Tensor out) {
        convolutionChecks.antiAliasedSnake(x, filters, alpha, invBeta, out);
        kernels().convolutions().antiAliasedSnake(x, filters, alpha, invBeta, out);
    }

    @Override
    public final void copy(Tensor src, Tensor dst) {
        moveChecks.copy(src, dst);
        if (src.device().equals(dst.device())) {
            kernels().moves().copy(src, dst);
        } else {
            TransferEvent.around(src.device().toString(), dst.device().toString(), dst.shape().elements() * dst.dtype().bytes(),
                    () -> kernels().moves().copy(src, dst));
        }
    }

    @Override
    public final void fill(Tensor dst, float value) {
        moveChecks.fill(dst);
        kernels().moves().fill(dst, value);
    }

    @Override
    public final void gatherRows(Tensor src, Tensor index, Tensor dst) {
        moveChecks.gatherRows(src, index, dst);
        kernels().moves().gatherRows(src, index, dst);
    }

    @Override
    public final void scatterRows(Tensor src, Tensor index, Tensor dst) {
        moveChecks.scatterRows(src, index, dst);
        kernels().moves().scatterRows(src, index, dst);
    }

    @Override
    public final void crossFade(Tensor a, Tensor b, int dim, Tensor out) {
        moveChecks.crossFade(a, b, dim, out);
        kernels().moves().crossFade(a, b, dim, out);
    }
}
