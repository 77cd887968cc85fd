package io.kinema.compute;

import java.util.List;
import java.util.Optional;

/**
 * What follows a matrix product before its store. The deltas are added in the order of the list, each by one FP32 FMA, to the
 * FP32 value with row scale and bias; their columns may overlap. The same bits as the product stored in FP32, then
 * {@link ElementwiseOps#addScaled} for each delta, then one rounding to the output's dtype.
 *
 * @param bias   FP32, BF16 or F16 [N], or empty
 * @param deltas of adapters
 */
public record LinearEpilogue(Optional<Tensor> bias, List<ScaledDelta> deltas) {
    /** Nothing but row scale and store. */
    public static final LinearEpilogue NONE = new LinearEpilogue(Optional.empty(), List.of());

    public LinearEpilogue {
        deltas = List.copyOf(deltas);
    }

    /**
     * {@code out[m, column + n] = fma(factor, values[m, n], out[m, column + n])}.
     *
     * @param values FP32 [M, any number of columns], last axis contiguous
     * @param factor finite
     * @param column the first of the output's columns that it adds to
     */
    public record ScaledDelta(Tensor values, float factor, int column) {
    }

    /** A bias alone. */
    public static LinearEpilogue of(Optional<Tensor> bias) {
        return bias.isEmpty() ? NONE : new LinearEpilogue(bias, List.of());
    }
}
