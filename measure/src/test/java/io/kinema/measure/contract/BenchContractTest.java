package io.kinema.measure.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.kinema.engine.BadRequestException;
import io.kinema.measure.Models;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class BenchContractTest {
    private static final String WHOLE = "{\"schema\": \"kinema.bench/1\", \"name\": \"n\", \"request\": {\"prompt\": \"p\"}}";

    @TempDir
    private Path folder;

    @Test
    void theShippedContractsAreReadAndWrittenBack() throws IOException {
        try (var files = Files.list(Models.ROOT.resolve("contracts"))) {
            assertThat(files.toList()).isNotEmpty().allSatisfy(file -> {
                BenchContract contract = BenchContract.read(file);
                assertThat(BenchContract.read(contract.toJson())).isEqualTo(contract);
                assertThat(contract.sha256()).hasSize(64);
            });
        }
    }

    @Test
    void theHashIsOfWhatIsSaidNotOfHow() throws IOException {
        BenchContract one = BenchContract.read(new ObjectMapper().readTree("{\"name\": \"n\", \"request\": {\"seed\": 1, \"prompt\": \"p\"}, \"schema\": \"kinema.bench/1\"}"));
        BenchContract same = BenchContract.read(new ObjectMapper().readTree("{\"schema\": \"kinema.bench/1\", \"name\": \"n\", \"request\": {\"prompt\": \"p\", \"seed\": 1}, \"gates\": {\"max_cv\": 0.05}}"));
        BenchContract other = BenchContract.read(new ObjectMapper().readTree("{\"schema\": \"kinema.bench/1\", \"name\": \"n\", \"request\": {\"prompt\": \"p\", \"seed\": 2}}"));
        assertThat(one.sha256()).isEqualTo(same.sha256()).isNotEqualTo(other.sha256());
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', value = {
        "{} | schema",
        "{\"schema\": \"kinema.bench/2\"} | kinema.bench/1",
        "{\"schema\": \"kinema.bench/1\", \"name\": 5} | name",
        "{\"schema\": \"kinema.bench/1\", \"name\": \"n\"} | request",
        "{\"schema\": \"kinema.bench/1\", \"name\": \"n\", \"request\": {\"prompt\": \"p\", \"stepz\": 8}} | 'stepz'",
        "{\"schema\": \"kinema.bench/1\", \"name\": \"n\", \"request\": {\"prompt\": \"p\", \"outputs\": 2}} | outputs",
        "{\"schema\": \"kinema.bench/1\", \"name\": \"n\", \"request\": {\"prompt\": \"p\"}, \"execution\": {\"precision\": \"fp8\"}} | 'fp8'",
        "{\"schema\": \"kinema.bench/1\", \"name\": \"n\", \"request\": {\"prompt\": \"p\"}, \"execution\": {\"speed\": 1}} | 'speed'",
        "{\"schema\": \"kinema.bench/1\", \"name\": \"n\", \"request\": {\"prompt\": \"p\"}, \"gates\": {\"max_cv\": 0.5}} | max_cv",
        "{\"schema\": \"kinema.bench/1\", \"name\": \"n\", \"request\": {\"prompt\": \"p\"}, \"gates\": {\"min_flops\": 1}} | 'min_flops'",
        "{\"schema\": \"kinema.bench/1\", \"name\": \"n\", \"request\": {\"prompt\": \"p\"}, \"gates\": {\"max_host_bytes\": true}} | max_host_bytes",
        "{\"schema\": \"kinema.bench/1\", \"name\": \"n\", \"request\": {\"prompt\": \"p\"}, \"warm_ups\": 0} | 'warm_ups'",
        "[1] | schema", "not JSON | which is no JSON"})
    void whatIsNoContractIsRefusedInOneLineThatNamesTheFile(String text, String named) throws IOException {
        Path file = Files.writeString(folder.resolve("contract.json"), text);
        assertThatExceptionOfType(BadRequestException.class).isThrownBy(() -> BenchContract.read(file)).withMessageContaining(named)
                .withMessageContaining("contract.json").satisfies(e -> assertThat(e.getMessage().lines()).hasSize(1));
    }

    @Test
    void whatIsLeftOutIsADefault() throws IOException {
        BenchContract contract = BenchContract.read(new ObjectMapper().readTree(WHOLE));
        assertThat(contract.gates()).isEqualTo(BenchGates.STEADY);
        assertThat(contract.execution().device()).isEqualTo("cpu");
    }
}
