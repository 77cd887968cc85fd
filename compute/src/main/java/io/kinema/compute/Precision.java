package io.kinema.compute;

import io.kinema.weights.DType;
import java.util.Arrays;
import java.util.Optional;

/**
 * A precision plan: it names the points where values are rounded, not the hardware that runs them.
 * In every plan the residual stream, norms, softmax and accumulation are FP32; a plan chooses the type of matrix operands.
 */
public enum Precision {
    /** FP32 operands; the reference. BF16/FP16 weights are widened exactly. */
    FP32("fp32", DType.F32),
    /** FP16 operands (SM70): a row beyond the FP16 range is scaled by a power of two first, see {@link LinearOps#prepare}. */
    FP16_FP32RES("fp16-fp32res", DType.F16),
    /** BF16 operands (SM80 and later). */
    BF16_FP32RES("bf16-fp32res", DType.BF16);

    private final String label;
    private final DType operand;

    Precision(String label, DType operand) {
        this.label = label;
        this.operand = operand;
    }

    /** The name on the command line. */
    public String label() {
        return label;
    }

    /** The type of matrix-product and attention operands. */
    public DType operand() {
        return operand;
    }

    /** The plan with this command-line name, or empty. */
    public static Optional<Precision> labelled(String label) {
        return Arrays.stream(values()).filter(p -> p.label.equals(label)).findFirst();
    }
}
