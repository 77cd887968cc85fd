package io.kinema.model.adapter;

import io.kinema.weights.BadWeightsException;
import io.kinema.weights.FloatConversion;
import io.kinema.weights.StoredTensor;

/** Refuses tensors with infinities and NaN: one of them makes every pixel black, without a word. */
final class FiniteTensors {
    private FiniteTensors() {
    }

    static void require(StoredTensor tensor) {
        long n = tensor.shape().elements();
        for (long i = 0; i < n; i++) {
            double value = FloatConversion.toDouble(tensor.dtype(), tensor.data(), i);
            if (!Double.isFinite(value)) {
                throw new BadWeightsException(tensor.file() + ": tensor " + tensor.name() + " element " + i + " is " + value
                        + ", expected finite values; the file is damaged, fetch it again");
            }
        }
    }
}
