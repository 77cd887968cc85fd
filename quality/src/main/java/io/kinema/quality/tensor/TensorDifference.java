package io.kinema.quality.tensor;

import io.kinema.weights.DType;
import io.kinema.weights.FloatConversion;
import io.kinema.weights.Shape;
import io.kinema.weights.StoredTensor;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;

/**
 * How a candidate tensor differs from its reference.
 *
 * @param name       of the tensor
 * @param shape      of both
 * @param bitwise    whether both have one dtype and the same bytes; zeros of unlike sign differ, NaNs of one pattern do not
 * @param differing  elements whose values differ; two NaNs count as different
 * @param relativeL2 {@link RelativeL2}; 0 when the bytes are equal and finite, NaN when a value is not finite
 * @param maxAbs     largest |candidate - reference|; NaN when a value is not finite
 * @param candidateNonFinite elements of the candidate that are NaN or infinite
 * @param referenceNonFinite elements of the reference that are
 */
public record TensorDifference(String name, Shape shape, boolean bitwise, long differing, double relativeL2, double maxAbs,
                               long candidateNonFinite, long referenceNonFinite) {
    /**
     * Compares two tensors of one shape; any dtypes, values widened to float64.
     *
     * @throws IllegalArgumentException when the shapes differ
     */
    public static TensorDifference of(StoredTensor candidate, StoredTensor reference) {
        if (!candidate.shape().equals(reference.shape())) {
            throw new IllegalArgumentException(reference.name() + ": got shape " + candidate.shape() + ", expected the reference's " + reference.shape());
        }
        boolean bitwise = candidate.dtype() == reference.dtype() && candidate.data().mismatch(reference.data()) == -1;
        RelativeL2 distance = new RelativeL2();
        long differing = 0;
        long wrongA = 0;
        long wrongB = 0;
        double maxAbs = 0;
        long count = reference.shape().elements();
        for (long i = 0; i < count; i++) {
            double a = FloatConversion.toDouble(candidate.dtype(), candidate.data(), i);
            double b = FloatConversion.toDouble(reference.dtype(), reference.data(), i);
            distance.add(a, b);
            differing += a == b ? 0 : 1;
            wrongA += Double.isFinite(a) ? 0 : 1;
            wrongB += Double.isFinite(b) ? 0 : 1;
            maxAbs = Math.max(maxAbs, Math.abs(a - b));
        }
        boolean finite = wrongA + wrongB == 0;
        return new TensorDifference(reference.name(), reference.shape(), bitwise, differing, finite ? distance.value() : Double.NaN,
                finite ? maxAbs : Double.NaN, wrongA, wrongB);
    }

    /** Compares two FP32 tensors held on the heap, row-major. @throws IllegalArgumentException when a length is not {@code shape}'s */
    public static TensorDifference of(String name, float[] candidate, float[] reference, long... shape) {
        return of(tensor(name, candidate, shape), tensor(name, reference, shape));
    }

    private static StoredTensor tensor(String name, float[] values, long[] shape) {
        return new StoredTensor(name, DType.F32, Shape.of(shape), MemorySegment.ofArray(values), Path.of(""));
    }
}
