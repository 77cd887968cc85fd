package io.kinema.engine.prepared;

import io.kinema.compute.Backend;
import io.kinema.compute.MatrixLayout;
import io.kinema.compute.collective.Communicator;
import io.kinema.model.load.Parameters.Rounding;
import io.kinema.weights.TensorSource;
import java.nio.file.Path;
import java.util.Map;
import java.util.function.Supplier;

/**
 * How a network is opened, so that it can be opened once to prepare its weights and again to use them.
 *
 * @param key    of the network in an engine
 * @param label  for a person and for run records: {@code text_encoder}
 * @param files  folder or file of its weights
 * @param weights opens them, or gives those that are open
 * @param facts  everything else that decides its prepared weights
 * @param form   what becomes of its matrices
 * @param ranks  how many share its matrices
 * @param open   a rank's network on a backend, all of it resident
 */
public record NetworkOpening(Object key, String label, Path files, Supplier<TensorSource> weights, Map<String, String> facts, Form form, int ranks,
                             Opener open) {
    /** Opens the network of one rank. */
    @FunctionalInterface
    public interface Opener {
        AutoCloseable open(Backend backend, TensorSource source, Communicator rank);
    }

    /**
     * What becomes of a network's tensors when it is opened.
     *
     * @param rounding of its matrices
     * @param layout   of those that are rounded to FP16
     * @param folds    whether kernels are computed from several tensors
     */
    public record Form(Rounding rounding, MatrixLayout layout, boolean folds) {
    }
}
