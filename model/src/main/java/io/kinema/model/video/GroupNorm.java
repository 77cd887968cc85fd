package io.kinema.model.video;

import io.kinema.compute.Backend;
import io.kinema.compute.Tensor;
import io.kinema.model.load.Parameters;

/** Group norm of each frame by itself, with its affine parameters [C]. */
record GroupNorm(Tensor weight, Tensor bias, int groups, float eps) {
    static GroupNorm load(Parameters p, int channels, VideoVaeConfig config) {
        return new GroupNorm(p.f32("weight", channels), p.f32("bias", channels), config.normGroups(), config.normEps());
    }

    /** {@code out = norm(x)}, then SiLU if asked; FP32 [C, T, H, W], may be in place. */
    void apply(Backend backend, Tensor x, boolean silu, Tensor out) {
        backend.groupNormPerFrame(x, groups, weight, bias, eps, silu, out);
    }
}
