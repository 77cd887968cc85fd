package io.kinema.cuda.ops;

import io.kinema.compute.Workspace;
import io.kinema.weights.DType;
import java.util.Optional;

/**
 * BF16 attention over few keys in FP32 instead of on tensor cores. Probabilities rounded to FP16 leave a result up to 2e-4 off (relative L2),
 * and what then rounds to the neighbouring BF16 number makes up to 9e-4 of it. In a result of many elements that is an average; in one of few a
 * handful of elements can make it more than 1e-3. So few keys cost next to nothing in FP32.
 *
 * @param flash what would compute it on tensor cores; nothing is taken that it refuses
 * @param tiled the FP32 kernels
 */
record FewKeys(AttentionKernels flash, AttentionKernels tiled) implements AttentionKernels {
    private static final int MOST_KEYS = 256;

    @Override
    public String name() {
        return tiled.name();
    }

    @Override
    public Optional<String> refusal(AttentionShape shape) {
        if (shape.operand() != DType.BF16 || shape.keys() > MOST_KEYS) {
            return Optional.of("all but BF16 over at most " + MOST_KEYS + " keys");
        }
        return flash.refusal(shape);
    }

    @Override
    public void run(AttentionCall call, Workspace scratch) {
        tiled.run(call, scratch);
    }
}
