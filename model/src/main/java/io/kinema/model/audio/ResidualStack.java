package io.kinema.model.audio;

import io.kinema.compute.Backend;
import io.kinema.compute.Tensor;
import io.kinema.compute.Workspace;
import io.kinema.model.load.Parameters;
import java.util.ArrayList;
import java.util.List;

/** A residual block of BigVGAN (AMP block): for each dilation {@code x += conv(snake(dilatedConv(snake(x))))}. */
record ResidualStack(List<ResidualStack.Layer> layers) {
    record Layer(AliasFreeSnake snake1, Conv conv1, AliasFreeSnake snake2, Conv conv2) {
    }

    static ResidualStack load(Parameters p, int channels, int kernel, List<Integer> dilations) {
        List<Layer> layers = new ArrayList<>();
        for (int i = 0; i < dilations.size(); i++) {
            layers.add(new Layer(
                    AliasFreeSnake.load(p.under("activations." + 2 * i + "."), channels),
                    Conv.same(p.under("convs1." + i + "."), channels, channels, kernel, dilations.get(i)),
                    AliasFreeSnake.load(p.under("activations." + (2 * i + 1) + "."), channels),
                    Conv.same(p.under("convs2." + i + "."), channels, channels, kernel, 1)));
        }
        return new ResidualStack(List.copyOf(layers));
    }

    /** @param out same shape as x [B, C, L]; x keeps its values */
    void apply(Backend backend, Tensor x, Workspace ws, Tensor out) {
        try (Workspace.Frame frame = ws.frame()) {
            Tensor a = ws.f32(x.shape().toArray());
            Tensor b = ws.f32(x.shape().toArray());
            Tensor residual = x;
            for (Layer layer : layers) {
                layer.snake1().apply(backend, residual, a);
                layer.conv1().apply(backend, a, b);
                layer.snake2().apply(backend, b, b);
                layer.conv2().apply(backend, b, a);
                backend.add(a, residual, out);
                residual = out;
            }
        }
    }
}
