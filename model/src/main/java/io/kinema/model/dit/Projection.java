package io.kinema.model.dit;

import io.kinema.compute.Operand;
import io.kinema.compute.Tensor;
import io.kinema.model.layer.Execution;
import io.kinema.model.layer.Linear;
import io.kinema.model.load.Parameters;
import io.kinema.model.load.Parameters.Rounding;
import java.util.List;
import java.util.Optional;

/**
 * A linear layer with bias that runs in FP32 in every precision plan, and so do the adapters on it.
 *
 * @param name   of the module, which adapters address
 * @param linear [out, in] in the file's dtype, FP32 bias [out]
 */
record Projection(String name, Linear linear) {
    /** @param name without {@code .weight} and {@code .bias} */
    static Projection read(Parameters p, String name, long out, long in) {
        return new Projection(p.prefix() + name, new Linear(p.rounded(Rounding.AS_STORED).matrix(name + ".weight", out, in),
                Optional.of(p.f32(name + ".bias", out)), List.of()));
    }

    /** Checks that the checkpoint has it, without reading it. @throws io.kinema.weights.BadWeightsException when not */
    static void require(Parameters p, String name, long out, long in) {
        p.require(name + ".weight", out, in);
        p.require(name + ".bias", out);
    }

    /** @param x FP32 [M, in] */
    void forward(Execution run, AdaptersInForce adapters, Tensor x, Tensor out) {
        adapters.on(name, linear).forward(run.fp32().replicated(), Operand.of(x), out);
    }
}
