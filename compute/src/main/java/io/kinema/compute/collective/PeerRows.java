package io.kinema.compute.collective;

import io.kinema.compute.Tensor;
import java.util.List;

/**
 * Owns one rank's memory for exact row reductions of one shape until it is closed, and does their arithmetic where it lies; closing twice is harmless.
 * {@link RowReduction} says when its methods may be called. Used by the rank's thread.
 */
public interface PeerRows extends AutoCloseable {
    /** FP32 [rows, columns]: the partial that the other ranks read. */
    Tensor partial();

    /** Makes {@link #partial} a copy of {@code values}. */
    void load(Tensor values);

    /** A tensor like {@link #partial} with this one value everywhere, in memory that lives until {@link #code}. */
    Tensor probe(float value);

    /**
     * Leaves of each own element's trees those that explain a probe's result.
     *
     * @param expected what the trees make of the probe, by code; a tree explains a result that has exactly these bits
     * @param result   the probes' sum, like {@link #partial}
     */
    void narrow(float[] expected, Tensor result);

    /** Remembers each own element's only tree and gives the memory for calibration back. @return how many elements have none or several */
    long code();

    /** Adds the own rows of all ranks' partials, each element by its tree. @return FP32 [own rows, columns], overwritten by the next call */
    Tensor add(List<Tensor> partials);

    @Override
    void close();
}
