package io.kinema.engine.pipeline;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.kinema.model.NonFiniteException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FiniteValuesTest {
    @ParameterizedTest
    @ValueSource(floats = {Float.NaN, Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY})
    void namesWhereAndWhich(float bad) {
        float[] values = new float[100];
        values[37] = bad;
        assertThatExceptionOfType(NonFiniteException.class).isThrownBy(() -> FiniteValues.require("step 3 of 8", values))
                .withMessageStartingWith("step 3 of 8: value 37 of 100 is " + bad);
    }

    @Test
    void takesTheLargestAndSmallestNumbers() {
        assertThatCode(() -> FiniteValues.require("", new float[] {Float.MAX_VALUE, -Float.MAX_VALUE, Float.MIN_VALUE, -0f, 0f}))
                .doesNotThrowAnyException();
        assertThatCode(() -> FiniteValues.require("", new float[0])).doesNotThrowAnyException();
    }
}
