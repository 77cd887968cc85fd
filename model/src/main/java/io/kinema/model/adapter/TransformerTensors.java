package io.kinema.model.adapter;

import io.kinema.weights.Shape;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Optional;
import java.util.SequencedMap;

/**
 * The transformer that adapters are checked against: its tensors in the diffusers layout.
 *
 * @param shapes  of all tensors by name
 * @param headDim channels of an attention head, which tells how interleaved rows come apart
 */
public record TransformerTensors(SequencedMap<String, Shape> shapes, int headDim) {
    static final String STACKED_HALVES = ".ff.net.0.proj";

    public TransformerTensors {
        shapes = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(shapes));
    }

    /** [out, in] of a linear layer, empty when there is no such layer. */
    Optional<Shape> linear(String module) {
        return Optional.ofNullable(shapes.get(module + ".weight")).filter(s -> s.rank() == 2);
    }

    /** [out, in] of a target. */
    Shape of(AdapterTarget target) {
        Shape whole = linear(target.module()).orElseThrow();
        return target.part() == AdapterTarget.Part.WHOLE ? whole : Shape.of(whole.dim(0) / 2, whole.dim(1));
    }
}
