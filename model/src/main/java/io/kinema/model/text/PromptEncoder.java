package io.kinema.model.text;

import io.kinema.compute.Tensor;
import io.kinema.compute.Workspace;
import io.kinema.model.StageTap;

/**
 * Owns a text encoder's memory, on one device ({@link TextEncoder}) or spread over several ranks ({@link RankedTextEncoder}), until it is closed;
 * closing twice is harmless. Used by one thread.
 */
public sealed interface PromptEncoder extends AutoCloseable permits TextEncoder, RankedTextEncoder {
    TextEncoderConfig config();

    /** The most scratch memory that a call has used, on all ranks, in bytes. */
    long peakScratchBytes();

    /** {@link #encode(TextEncoderInput, Workspace, StageTap)} without a tap. */
    default Tensor encode(TextEncoderInput input, Workspace owner) {
        return encode(input, owner, StageTap.NONE);
    }

    /**
     * The hidden states that condition the model.
     *
     * @param owner of the result, on the first rank's device
     * @param tap   sees the first rank's intermediates, on its thread
     * @return FP32 [tokens, hidden], not normalised
     * @throws IllegalArgumentException when an id is outside the vocabulary, or vision tokens and grids do not belong together
     */
    Tensor encode(TextEncoderInput input, Workspace owner, StageTap tap);

    @Override
    void close();
}
