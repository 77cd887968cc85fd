package io.kinema.quality.compare;

import io.kinema.quality.tensor.TensorDifference;
import java.util.List;
import java.util.Optional;

/**
 * The tensors of two safetensors files.
 *
 * @param candidateSource the candidate's file, for people
 * @param referenceSource the reference's
 * @param tensors         one for each name in both, in the reference's order
 */
public record TensorComparison(String candidateSource, String referenceSource, List<TensorDifference> tensors) {
    /** Name of the final video latents in a file of latents. */
    public static final String VIDEO = "latents";
    /** Name of the final audio latents there. */
    public static final String AUDIO = "audio_latents";

    public TensorComparison {
        tensors = List.copyOf(tensors);
    }

    /** The tensor of a name. */
    public Optional<TensorDifference> find(String name) {
        return tensors.stream().filter(t -> t.name().equals(name)).findFirst();
    }

    /** The farthest of the tensors that are no clip's latents; NaN when one of them is not finite. */
    public Optional<Double> worstOther() {
        return tensors.stream().filter(t -> !t.name().equals(VIDEO) && !t.name().equals(AUDIO)).map(TensorDifference::relativeL2)
                .reduce((a, b) -> Double.isNaN(a) || Double.isNaN(b) ? Double.NaN : Math.max(a, b));
    }

    /** Elements that are not the same bits; at least 1 for a tensor of another dtype. */
    public long differing() {
        return tensors.stream().mapToLong(t -> t.bitwise() ? 0 : Math.max(1, t.differing())).sum();
    }
}
