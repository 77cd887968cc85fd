package io.kinema.engine.pipeline;

import io.kinema.model.NonFiniteException;

/** Stops a request whose values have become NaN or infinite, and says where. */
final class FiniteValues {
    private FiniteValues() {
    }

    /** @throws NonFiniteException naming {@code where} and the first such value */
    static void require(String where, float[] values) {
        // One sum that keeps every NaN and infinity is enough to see that all is well; the search runs only when it is not.
        float sum = 0;
        for (float v : values) {
            sum += v * 0f;
        }
        if (sum == 0) {
            return;
        }
        for (int i = 0; i < values.length; i++) {
            if (!Float.isFinite(values[i])) {
                throw new NonFiniteException(where + ": value " + i + " of " + values.length + " is " + values[i]
                        + ", expected finite values; use a precision plan with more range (fp32) or check the weights");
            }
        }
    }
}
