package io.kinema.model.text;

import io.kinema.compute.Tensor;
import java.util.List;

/**
 * Pictures, or videos, that one call of the vision tower turns into tokens.
 *
 * @param pixels FP32 host or device [patches of all grids, channels * temporal * patch * patch]: per grid frame by frame, in a
 *               frame merge block by merge block, values {@code (u8 / 255 - mean) / std}
 * @param grids  one per picture or video, in the order of their tokens
 */
public record VisionInput(Tensor pixels, List<PatchGrid> grids) {
    public VisionInput {
        grids = List.copyOf(grids);
        int patches = grids.stream().mapToInt(PatchGrid::patches).reduce(0, Math::addExact);
        if (grids.isEmpty() || pixels.rank() != 2 || pixels.size(0) != patches) {
            throw new IllegalArgumentException("vision input: got pixels " + pixels + " for grids " + grids + ", expected one row for each of "
                    + patches + " patches and at least one grid");
        }
    }
}
