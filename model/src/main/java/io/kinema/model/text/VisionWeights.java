package io.kinema.model.text;

import io.kinema.compute.Tensor;
import io.kinema.compute.Weight;
import io.kinema.model.load.Parameters;

/** Weights of the vision tower's parts; every layer here has a bias. */
final class VisionWeights {
    private VisionWeights() {
    }

    /** @param bias FP32 [out] */
    record Linear(Weight weight, Tensor bias) {
        static Linear read(Parameters p, String name, long out, long in) {
            return new Linear(p.matrix(name + ".weight", out, in), p.f32(name + ".bias", out));
        }
    }

    /** Layer norm; FP32 [width] each. */
    record Norm(Tensor weight, Tensor bias) {
        static final float EPS = 1e-6f;

        static Norm read(Parameters p, String name, long width) {
            return new Norm(p.f32(name + ".weight", width), p.f32(name + ".bias", width));
        }
    }

    /** @param qkv query, key and value rows one below the other */
    record Block(Norm norm1, Linear qkv, Linear projection, Norm norm2, Linear first, Linear second) {
        static Block read(Parameters p, VisionConfig c) {
            return new Block(Norm.read(p, "norm1", c.hidden()), Linear.read(p, "attn.qkv", 3L * c.hidden(), c.hidden()),
                    Linear.read(p, "attn.proj", c.hidden(), c.hidden()), Norm.read(p, "norm2", c.hidden()),
                    Linear.read(p, "mlp.linear_fc1", c.ffn(), c.hidden()), Linear.read(p, "mlp.linear_fc2", c.hidden(), c.ffn()));
        }
    }

    /**
     * Turns the patches of a merge block into one token.
     *
     * @param mergedNorm the norm sees whole merge blocks (deepstack) and not single patches
     */
    record Merger(boolean mergedNorm, Norm norm, Linear first, Linear second) {
        static Merger read(Parameters p, VisionConfig c, boolean mergedNorm) {
            long merged = (long) c.hidden() * c.patchesPerToken();
            return new Merger(mergedNorm, Norm.read(p, "norm", mergedNorm ? merged : c.hidden()),
                    Linear.read(p, "linear_fc1", merged, merged), Linear.read(p, "linear_fc2", c.outHidden(), merged));
        }
    }
}
