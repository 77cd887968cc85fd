package io.kinema.engine.verify;

import io.kinema.compute.Backend;
import io.kinema.compute.Device;
import io.kinema.compute.HostWorkspace;
import io.kinema.compute.Precision;
import io.kinema.compute.Tensor;
import io.kinema.compute.collective.BackendGroup;
import io.kinema.engine.BadRequestException;
import io.kinema.model.load.Parameters.Rounding;
import java.util.Optional;
import java.util.function.Supplier;

/** Owns the ranks of a verification, opened when the first model runs, until it is closed; closing twice is harmless. */
final class RunSettings implements AutoCloseable {
    private final VerifyOptions options;
    private final Supplier<BackendGroup> open;
    private Optional<BackendGroup> ranks = Optional.empty();

    RunSettings(VerifyOptions options, Supplier<BackendGroup> open) {
        this.options = options;
        this.open = open;
    }

    /** How a model's matrices are stored and its operands rounded. */
    record Plan(Precision precision, Rounding rounding) {
    }

    VerifyOptions options() {
        return options;
    }

    /** The first rank's. */
    Backend backend() {
        return ranks().backends().getFirst();
    }

    BackendGroup ranks() {
        if (ranks.isEmpty()) {
            ranks = Optional.of(open.get());
        }
        return ranks.get();
    }

    /** A copy of a tensor's values, wherever it lies. */
    Values values(Tensor tensor) {
        if (tensor.device().kind() == Device.Kind.CPU) {
            return Values.of(tensor);
        }
        try (HostWorkspace host = HostWorkspace.create("verify")) {
            Tensor copy = host.allocate(tensor.dtype(), tensor.shape().toArray());
            backend().copy(tensor, copy);
            backend().finish();
            return Values.of(copy);
        }
    }

    /** The plan of a check: the option's precision where there is one, else what the check states. */
    Plan plan(CaseFile.Check check) {
        return options.precision().map(RunSettings::overriding).orElseGet(() -> stated(check));
    }

    private static Plan overriding(Precision precision) {
        return new Plan(precision, switch (precision) {
            case FP32 -> Rounding.AS_STORED;
            case FP16_FP32RES -> Rounding.F16;
            case BF16_FP32RES -> Rounding.BF16;
        });
    }

    private static Plan stated(CaseFile.Check check) {
        String stated = check.precision().orElse("fp32");
        return switch (stated) {
            case "fp32" -> new Plan(Precision.FP32, Rounding.AS_STORED);
            case "bf16" -> new Plan(Precision.BF16_FP32RES, Rounding.BF16);
            // The reference rounded the bfloat16 matrices to float16 and computed in float32; its float32 islands stayed.
            case "fp16_weights_fp32_math" -> new Plan(Precision.FP32, Rounding.F16);
            default -> throw new BadRequestException("precision", stated, "expected fp32, bf16 or fp16_weights_fp32_math");
        };
    }

    @Override
    public void close() {
        ranks.ifPresent(BackendGroup::close);
        ranks = Optional.empty();
    }
}
