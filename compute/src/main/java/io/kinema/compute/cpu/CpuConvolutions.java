package io.kinema.compute.cpu;

import io.kinema.compute.ConvolutionOps;
import io.kinema.compute.Tensor;
import java.util.Optional;

/** Convolutions: patches of a block are written out (im2col) and multiplied by OpenBLAS. Owns scratch until it is closed. */
final class CpuConvolutions implements ConvolutionOps, AutoCloseable {
    private final WorkerPool pool;
    private final Scratch shared = new Scratch();

    CpuConvolutions(WorkerPool pool) {
        this.pool = pool;
    }

    /** Bytes of its own scratch memory. */
    long scratchBytes() {
        return shared.size();
    }

    @Override
    public void close() {
        shared.close();
    }

    @Override
    public void conv1d(Tensor x, Conv1d conv, Tensor out) {
        if (out.elements() == 0) {
            return;
        }
        int batch = x.size(0);
        for (int b = 0; b < batch; b++) {
            Signal signal = new Signal(x.select(0, b), conv);
            new PatchProduct(conv.w(), conv.bias(), signal).run(pool, out.select(0, b));
        }
    }

    @Override
    public void convTranspose1d(Tensor x, Tensor w, Optional<Tensor> bias, int stride, int padding, Tensor out) {
        if (out.elements() == 0) {
            return;
        }
        TransposedConvolution transposed = TransposedConvolution.of(w, bias, stride, padding, shared);
        for (int b = 0; b < x.size(0); b++) {
            transposed.run(pool, x.select(0, b), out.select(0, b));
        }
    }

    @Override
    public void conv3d(Tensor x, Conv3d conv, Tensor out) {
        if (out.elements() == 0) {
            return;
        }
        Video video = new Video(x, conv, out);
        new PatchProduct(conv.w(), conv.bias(), video).run(pool, out);
    }

    @Override
    public void antiAliasedSnake(Tensor x, AntiAlias filters, Tensor alpha, Tensor invBeta, Tensor out) {
        AntiAliasedSnake snake = AntiAliasedSnake.of(filters, alpha, invBeta);
        snake.run(pool, x, out);
    }
}
