package io.kinema.engine.pipeline;

import io.kinema.engine.layout.LatentShape;
import java.util.List;

/**
 * Encoded conditions in packed order.
 *
 * @param visual  normalised latents of each picture and video, clean
 * @param shapes  their shapes
 * @param audio   normalised rows of each sound, all left then all right, clean
 */
record Conditions(List<float[]> visual, List<LatentShape> shapes, List<float[]> audio) {
    /** A text-only request has none. */
    static final Conditions NONE = new Conditions(List.of(), List.of(), List.of());

    Conditions {
        visual = List.copyOf(visual);
        shapes = List.copyOf(shapes);
        audio = List.copyOf(audio);
    }
}
