package io.kinema.model.audio;

import io.kinema.compute.Backend;
import io.kinema.compute.ConvolutionOps.AntiAlias;
import io.kinema.compute.Tensor;
import io.kinema.model.load.Parameters;

/** SnakeBeta between an upsampling and a downsampling filter, both stored in the checkpoint. */
record AliasFreeSnake(AntiAlias filters, Snake snake) {
    private static final int RATIO = 2;
    private static final int TAPS = 12;
    static final String UP_FILTER = "upsample.filter";
    static final String DOWN_FILTER = "downsample.lowpass.filter";

    static AliasFreeSnake load(Parameters p, int channels) {
        Tensor up = p.f32(UP_FILTER, 1, 1, TAPS).reshape(TAPS);
        Tensor down = p.f32(DOWN_FILTER, 1, 1, TAPS).reshape(TAPS);
        return new AliasFreeSnake(new AntiAlias(up, down, RATIO), Snake.beta(p.under("act."), channels));
    }

    void apply(Backend backend, Tensor x, Tensor out) {
        backend.antiAliasedSnake(x, filters, snake.alpha(), snake.invBeta(), out);
    }
}
