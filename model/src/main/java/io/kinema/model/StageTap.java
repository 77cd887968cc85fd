package io.kinema.model;

import io.kinema.compute.Tensor;

/**
 * Sees named intermediates of a network while it runs, for golden comparison and debugging. Names are those of the golden
 * cases ({@code block0_attn}, {@code token_refiner}, ...). A tensor is valid only during the call; copy what you keep.
 */
@FunctionalInterface
public interface StageTap {
    /** Looks at nothing. Networks may skip work that only a tap would see when they are given this one. */
    StageTap NONE = (name, value) -> {
    };

    void stage(String name, Tensor value);

    /** False when this tap ignores the stage, so that a network need not compute what only the tap would see. */
    default boolean wants(String name) {
        return this != NONE;
    }

    /** A tap that wants the same and looks at nothing: for ranks that must come to the points where the one with this tap looks. */
    default StageTap elsewhere() {
        StageTap here = this;
        return here == NONE ? NONE : new StageTap() {
            @Override
            public void stage(String name, Tensor value) {
                // Another rank looks.
            }

            @Override
            public boolean wants(String name) {
                return here.wants(name);
            }
        };
    }
}
