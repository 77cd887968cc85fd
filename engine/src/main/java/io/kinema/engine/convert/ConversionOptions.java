package io.kinema.engine.convert;

import io.kinema.model.layout.WeightLayout;
import io.kinema.weights.DType;
import java.nio.file.Path;
import java.util.Optional;

/**
 * How to convert.
 *
 * @param layout      {@link WeightLayout#DIFFUSERS} or {@link WeightLayout#ORIGINAL}
 * @param dtype       F32, BF16 or F16 of what may be narrowed; empty to keep every tensor's own. The tensors that H3 keeps in FP32 stay so
 * @param overwrite   whether a target that is there is replaced
 * @param model       model whose config belongs to a transformer file that has none; the bundled one when empty
 * @param sourceLayout layout of such a file, where its names leave it open
 */
public record ConversionOptions(WeightLayout layout, Optional<DType> dtype, boolean overwrite, Optional<Path> model, Optional<WeightLayout> sourceLayout) {
    public ConversionOptions {
        if (layout != WeightLayout.DIFFUSERS && layout != WeightLayout.ORIGINAL) {
            throw new IllegalArgumentException("conversion: got layout " + layout + ", expected diffusers or original");
        }
    }
}
