package io.kinema.model.dit;

import io.kinema.compute.Backend;
import io.kinema.compute.Operand;
import io.kinema.compute.Tensor;
import io.kinema.compute.Weight;
import io.kinema.model.load.Parameters;
import io.kinema.model.load.Parameters.Rounding;
import java.util.Optional;

/**
 * A linear layer with bias that runs in FP32 in every precision plan.
 *
 * @param weight [out, in] in the file's dtype
 * @param bias   FP32 [out]
 */
record Projection(Weight weight, Tensor bias) {
    /** @param name without {@code .weight} and {@code .bias} */
    static Projection read(Parameters p, String name, long out, long in) {
        return new Projection(p.rounded(Rounding.AS_STORED).matrix(name + ".weight", out, in), p.f32(name + ".bias", out));
    }

    /** @param x FP32 [M, in] */
    void forward(Backend backend, Tensor x, Tensor out) {
        backend.linear(Operand.of(x), weight, Optional.of(bias), out);
    }
}
