package io.kinema.engine.pipeline;

import java.util.Optional;

/** Keeps the sampler's state of one output between steps, so that a later attempt can go on from there. */
public interface StepKeeper {
    /** Keeps nothing. */
    StepKeeper NONE = new StepKeeper() {
        @Override
        public Optional<SamplerState> restore() {
            return Optional.empty();
        }

        @Override
        public void finished(SamplerState state, int steps) {
        }
    };

    /** The state to go on from; asked once, before the first step. */
    Optional<SamplerState> restore();

    /**
     * Hears of every step that is done. The arrays are the loop's own and change with the next step: write them, or copy.
     *
     * @param steps of the whole loop
     */
    void finished(SamplerState state, int steps);
}
