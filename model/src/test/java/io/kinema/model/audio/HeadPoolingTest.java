package io.kinema.model.audio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class HeadPoolingTest {
    @ParameterizedTest
    @CsvSource({"8,256,32", "2,9,6", "3,4,4", "2,3,7"})
    void everyOutputIsTheMeanOfItsWindowOverAllHeads(int heads, int headDim, int out) {
        float[] m = HeadPooling.values(heads, headDim, out);
        for (int i = 0; i < out; i++) {
            double sum = 0;
            for (int j = 0; j < heads * headDim; j++) {
                float weight = m[i * heads * headDim + j];
                int d = j % headDim;
                boolean inside = d >= Math.floor((double) i * headDim / out) && d < Math.ceil((i + 1.0) * headDim / out);
                assertThat(weight > 0).isEqualTo(inside);
                sum += weight;
            }
            assertThat(sum).isCloseTo(1, within(1e-6));
        }
    }
}
