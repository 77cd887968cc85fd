package io.kinema.engine.verify;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ValueComparisonTest {
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            {"a":1}                       | {"a":1.0}            | 0
            {"a":1,"more":2}              | {"a":1}              | 0
            {"a":1}                       | {"a":2}              | 1
            {}                            | {"a":1}              | 1
            {"a":[1,2]}                   | {"a":[1]}            | 1
            {"a":[1,3]}                   | {"a":[1,2]}          | 1
            {"a":"x"}                     | {"a":"y"}            | 1
            {"a":0.25}                    | {"a":0.250000001}    | 1
            {"a":null}                    | {"a":null}           | 0
            {}                            | {"a":null}           | 0
            {"a":1}                       | {"a":null}           | 1
            [0.5]                         | ["0x1.0p-1"]         | 0
            [0.5]                         | ["0x1.8p-1"]         | 1
            3                             | 3                    | 0
            {"a":1}                       | [1]                  | 1
            """)
    void comparesLeaves(String got, String expected, int different) throws IOException {
        assertThat(compare(got, expected).different()).isEqualTo(different);
    }

    @Test
    void meansMayDifferALittle() throws IOException {
        ValueComparison close = compare("{\"frame_means\":[0.500004,1]}", "{\"frame_means\":[0.5,1]}");
        assertThat(close.different()).isZero();
        assertThat(close.worstMean()).isPresent();
        assertThat(close.worstMean().getAsDouble()).isBetween(3.9e-6, ValueComparison.MEAN_LIMIT);
        assertThat(compare("{\"frame_means\":[0.6,1]}", "{\"frame_means\":[0.5,1]}").worstMean().getAsDouble()).isGreaterThan(ValueComparison.MEAN_LIMIT);
        assertThat(compare("{\"frame_means\":[1]}", "{\"frame_means\":[0.5,1]}").different()).isEqualTo(1);
        assertThat(compare("{\"a\":1}", "{\"a\":1}").worstMean()).isEmpty();
    }

    @Test
    void namesTheFirstDifference() throws IOException {
        assertThat(compare("{\"a\":{\"b\":[1,2]}}", "{\"a\":{\"b\":[1,5]}}").first()).isEqualTo(".a.b[1]: got 2, expected 5");
    }

    private static ValueComparison compare(String got, String expected) throws IOException {
        ObjectMapper mapper = new ObjectMapper();
        return ValueComparison.of(mapper.readTree(got), mapper.readTree(expected));
    }
}
