package io.kinema.compute.testing;

import io.kinema.compute.Backend;
import io.kinema.compute.Tensor;
import java.util.function.Function;

/**
 * One operation on fixed pseudo-random inputs. Run on two backends it gives two results to compare.
 *
 * @param name      operation and sizes, for test names
 * @param tolerance relative L2 error allowed against the reference
 * @param run       computes the output
 */
public record OpCase(String name, double tolerance, Function<Backend, Tensor> run) {

    /** The result as floats. */
    public float[] on(Backend backend) {
        return run.apply(backend).toFloats();
    }

    @Override
    public String toString() {
        return name;
    }
}
