package io.kinema.model.video;

import io.kinema.compute.Backend;
import io.kinema.compute.Tensor;
import io.kinema.compute.Workspace;
import io.kinema.model.load.Parameters;
import java.util.Optional;

/** {@code x + conv2(silu(norm2(conv1(silu(norm1(x))))))}, with a 1x1x1 convolution on x where the channels change. */
record ResidualBlock(GroupNorm norm1, CausalConv conv1, GroupNorm norm2, CausalConv conv2, Optional<CausalConv> shortcut) {
    static ResidualBlock load(Parameters p, int in, int out, VideoVaeConfig config) {
        return new ResidualBlock(
                GroupNorm.load(p.under("norm1."), in, config), CausalConv.same(p.under("conv1."), in, out, config.padding()),
                GroupNorm.load(p.under("norm2."), out, config), CausalConv.same(p.under("conv2."), out, out, config.padding()),
                in == out ? Optional.empty() : Optional.of(CausalConv.point(p.under("conv_shortcut."), in, out)));
    }

    /** The result: {@code x} itself, updated, where the channels stay; otherwise new memory of {@code ws}'s current frame. */
    Tensor apply(Backend backend, Tensor x, Workspace ws) {
        Tensor out = shortcut.map(s -> s.room(x, ws)).orElse(x);
        try (Workspace.Frame frame = ws.frame()) {
            Tensor first = conv1.room(x, ws);
            Tensor second = conv2.room(first, ws);
            Tensor active = shortcut.isPresent() ? ws.f32(x.shape().toArray()) : second;
            norm1.apply(backend, x, true, active);
            conv1.apply(backend, active, first);
            norm2.apply(backend, first, true, first);
            conv2.apply(backend, first, second);
            shortcut.ifPresent(s -> s.apply(backend, x, out));
            backend.add(out, second, out);
        }
        return out;
    }
}
