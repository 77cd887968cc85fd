package io.kinema.model.audio;

import io.kinema.compute.Backend;
import io.kinema.compute.Tensor;
import io.kinema.compute.Workspace;
import io.kinema.model.StageTap;
import io.kinema.model.load.Parameters;
import java.util.ArrayList;
import java.util.List;

/** The strided convolutional encoder (DAC): samples to rows of {@code latentDim} channels, one per hop. Owns nothing. */
final class DacEncoder {
    private static final int[] DILATIONS = {1, 3, 9};
    private static final int KERNEL = 7;

    /** {@code x + conv1x1(snake(dilatedConv(snake(x))))}. */
    private record ResidualUnit(Snake snake1, Conv conv1, Snake snake2, Conv conv2) {
        static ResidualUnit load(Parameters p, int channels, int dilation) {
            return new ResidualUnit(Snake.plain(p.under("block.0."), channels), Conv.same(p.under("block.1."), channels, channels, KERNEL, dilation),
                    Snake.plain(p.under("block.2."), channels), Conv.same(p.under("block.3."), channels, channels, 1, 1));
        }

        /** Updates x in place. */
        void apply(Backend backend, Tensor x, Workspace ws) {
            try (Workspace.Frame frame = ws.frame()) {
                Tensor a = ws.f32(x.shape().toArray());
                Tensor b = ws.f32(x.shape().toArray());
                snake1.apply(backend, x, a);
                conv1.apply(backend, a, b);
                snake2.apply(backend, b, b);
                conv2.apply(backend, b, a);
                backend.add(x, a, x);
            }
        }
    }

    /** Residual units, then a strided convolution that doubles the channels. */
    private record Stage(List<ResidualUnit> units, Snake snake, Conv down) {
        static Stage load(Parameters p, int in, int stride) {
            List<ResidualUnit> units = new ArrayList<>();
            for (int i = 0; i < DILATIONS.length; i++) {
                units.add(ResidualUnit.load(p.under("block." + i + "."), in, DILATIONS[i]));
            }
            return new Stage(List.copyOf(units), Snake.plain(p.under("block." + DILATIONS.length + "."), in),
                    Conv.normed(p.under("block." + (DILATIONS.length + 1) + "."), in, 2 * in, 2 * stride, stride, 1, Math.ceilDiv(stride, 2)));
        }
    }

    private final Backend backend;
    private final Conv first;
    private final List<Stage> stages = new ArrayList<>();
    private final Snake lastSnake;
    private final Conv last;

    DacEncoder(Parameters p, AudioVaeConfig config) {
        backend = p.backend();
        int channels = config.encoderDim();
        first = Conv.same(p.under("block.0."), 1, channels, KERNEL, 1);
        for (int stride : config.encoderRates()) {
            stages.add(Stage.load(p.under("block." + (stages.size() + 1) + "."), channels, stride));
            channels *= 2;
        }
        lastSnake = Snake.plain(p.under("block." + (stages.size() + 1) + "."), channels);
        last = Conv.same(p.under("block." + (stages.size() + 2) + "."), channels, config.latentDim(), 3, 1);
    }

    /**
     * @param samples FP32 [B, 1, L], L a multiple of the hop
     * @return FP32 [B, latentDim, L / hop] in {@code ws}'s current frame
     */
    Tensor encode(Tensor samples, Workspace ws, StageTap tap) {
        Tensor x = first.room(samples, ws);
        first.apply(backend, samples, x);
        tap.stage("encoder_block0", x);
        for (int i = 0; i < stages.size(); i++) {
            Stage stage = stages.get(i);
            for (ResidualUnit unit : stage.units()) {
                unit.apply(backend, x, ws);
            }
            stage.snake().apply(backend, x, x);
            Tensor shorter = stage.down().room(x, ws);
            stage.down().apply(backend, x, shorter);
            x = shorter;
            tap.stage("encoder_block" + (i + 1), x);
        }
        lastSnake.apply(backend, x, x);
        tap.stage("encoder_block" + (stages.size() + 1), x);
        Tensor out = last.room(x, ws);
        last.apply(backend, x, out);
        tap.stage("encoder_block" + (stages.size() + 2), out);
        return out;
    }
}
