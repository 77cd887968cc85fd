package io.kinema.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine.TypeConversionException;

class ByteCountTest {
    @ParameterizedTest
    @CsvSource({"17, 17", "17b, 17", "1k, 1000", "1KiB, 1024", "15.5G, 15500000000", "8GiB, 8589934592", "2TB, 2000000000000", "0.5 , 0"})
    void readsBytes(String text, long bytes) {
        assertThat(new ByteCount().convert(text)).isEqualTo(bytes);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "G", "-1", "1e9", "1 GiB of memory", "999999999T", "9999999999999999999"})
    void refusesWhatIsNoNumberOfBytes(String text) {
        assertThatExceptionOfType(TypeConversionException.class).isThrownBy(() -> new ByteCount().convert(text)).withMessageContaining(text);
    }
}
