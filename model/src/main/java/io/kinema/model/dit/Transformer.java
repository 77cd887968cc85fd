package io.kinema.model.dit;

import io.kinema.compute.Precision;
import io.kinema.compute.Tensor;
import io.kinema.model.StageTap;
import io.kinema.model.adapter.Adapter;
import java.util.List;
import java.util.Optional;

/**
 * Owns a diffusion transformer's memory, on one device ({@link Dit}) or spread over several ranks ({@link RankedDit}), until it is closed; closing
 * twice is harmless. Callers need not know which: what it makes for a request ({@link DitSequence}, {@link Modulation}, {@link LoadedAdapter}) holds
 * every rank's part and belongs to the transformer that made it. Used by one thread.
 *
 * <p>The work of a request is split by what it depends on: {@link #prepare} once per request (text refinement, rotary
 * tables), {@link #modulation} once per set of timesteps (time embedding, all AdaLN tables), {@link #forward} once per
 * step.
 */
public sealed interface Transformer extends AutoCloseable permits Dit, RankedDit {
    DitConfig config();

    Precision precision();

    /** What every rank has executed since it was opened, in the order of ranks. */
    List<RankMeter> meters();

    /** The most scratch memory that a step has used, on all ranks, in bytes. */
    long peakScratchBytes();

    /**
     * An adapter's matrices on this transformer's devices, stored as its plan stores matrices. The base is not touched.
     *
     * @param adapter to be applied at run time
     * @throws io.kinema.weights.BadWeightsException when a matrix does not fit this transformer, or FP16
     */
    LoadedAdapter load(Adapter adapter);

    /**
     * Chooses the adapters of the calls that follow, in the order in which their deltas are added; none of them for an empty
     * list, and a scale of 0 leaves its adapter out. A request's sequence, modulation and steps belong to one choice; a step with those of another is refused.
     *
     * @param chosen made by {@link #load} of this transformer; they must stay open while they are chosen
     */
    void use(List<ScaledAdapter> chosen);

    /** {@link #prepare(DitLayout, Tensor, StageTap)} without a tap. */
    default DitSequence prepare(DitLayout layout, Tensor text) {
        return prepare(layout, text, StageTap.NONE);
    }

    /**
     * Everything about a request that no step changes.
     *
     * @param text FP32 [text rows, textDim], the text encoder's hidden states in the layout's order; copied
     * @param tap  sees the first rank's intermediates, on its thread
     */
    DitSequence prepare(DitLayout layout, Tensor text, StageTap tap);

    /** {@link #modulation(float[], StageTap)} without a tap. */
    default Modulation modulation(float[] timesteps) {
        return modulation(timesteps, StageTap.NONE);
    }

    /**
     * Evaluates the AdaLN tables for every timestep that a request will use. The timestep MLP's and the projections' weights
     * are read for it, one block at a time, and given back: no step finds them in memory of this transformer.
     *
     * @param timesteps model times, 0 (noise) to 1 (clean); each is evaluated once however often it is named
     */
    Modulation modulation(float[] timesteps, StageTap tap);

    /** {@link #forward(DitSequence, Modulation, float[], Tensor, Tensor, Velocities, StageTap)} without a tap. */
    default void forward(DitSequence sequence, Modulation modulation, float[] rowTimesteps, Tensor video, Tensor audio, Velocities out) {
        forward(sequence, modulation, rowTimesteps, video, audio, out, StageTap.NONE);
    }

    /**
     * One evaluation of the model.
     *
     * @param rowTimesteps the model time of every packed row, each among those of {@code modulation}
     * @param video        FP32 [video rows, videoPatchDim]: noisy and conditioning rows in the layout's order; on the first rank's device, or the host
     * @param audio        FP32 [audio rows, audioChannels], likewise
     * @param out          receives the velocities of the wanted rows, see {@link Velocities#allocate}; on the first rank's device
     */
    void forward(DitSequence sequence, Modulation modulation, float[] rowTimesteps, Tensor video, Tensor audio, Velocities out, StageTap tap);

    /**
     * Records an evaluation for replay, where the backend can, the blocks stay on one device and it has all residual rows.
     *
     * @param video rows on the device; a replay reads what they hold then
     * @param audio likewise
     * @param out   written by every replay
     * @return owned by the caller; it dies with this transformer, the sequence and the modulation
     */
    Optional<RecordedStep> record(DitSequence sequence, Modulation modulation, Tensor video, Tensor audio, Velocities out);

    /** Frees weights' copies and scratch memory. */
    @Override
    void close();
}
