package io.kinema.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code kinema verify} on cases that hold and on one that was spoilt. */
class VerifyTest {
    private static final Path GOLDENS = Shell.ROOT.resolve("testdata/goldens");

    private final Captured terminal = new Captured(false);

    @TempDir
    private Path folder;

    @Test
    void printsALineForEachComparisonAndASum() {
        assertThat(terminal.kinema("verify", GOLDENS.resolve("scheduler/grid").toString())).isZero();
        assertThat(terminal.out()).contains("#1 sigmas", ": exact 0 (limit 0) ok\n").endsWith("all within their limits\n");
        assertThat(terminal.out().lines().count()).isGreaterThan(10);
    }

    @Test
    void quietPrintsTheSumAlone() {
        assertThat(terminal.kinema("verify", "--quiet", GOLDENS.resolve("scheduler").toString())).isZero();
        assertThat(terminal.out().lines()).singleElement().asString().startsWith("2 cases, ");
    }

    @Test
    void aMissExitsWithOne() throws IOException {
        Path spoilt = spoiltCase();
        assertThat(terminal.kinema("verify", "--quiet", spoilt.toString())).isEqualTo(1);
        assertThat(terminal.out().lines().toList().getFirst()).contains("sigmas", "(limit 0) MISS");
        assertThat(terminal.out()).endsWith(" MISSED\n");
    }

    @Test
    void printsOneJsonDocument() throws IOException {
        assertThat(terminal.kinema("verify", "--json", spoiltCase().toString())).isEqualTo(1);
        JsonNode document = new ObjectMapper().readTree(terminal.out());
        assertThat(document.path("ok").asBoolean()).isFalse();
        assertThat(document.path("results")).hasSize(document.path("comparisons").asInt());
        assertThat(document.path("results").get(0).path("ok").asBoolean()).isFalse();
    }

    @Test
    void namesTheFirstWrongIntermediate() {
        // Half the precision that the case states: some intermediate must leave its limit.
        terminal.kinema("verify", "--stages", "--precision", "bf16-fp32res", GOLDENS.resolve("transformer/t2va").toString());
        assertThat(terminal.out()).contains("    first wrong intermediate: ");
    }

    @Test
    void aMissingCaseIsTheUsersMistake() {
        assertThat(terminal.kinema("verify", "nowhere")).isEqualTo(2);
        assertThat(terminal.errors()).containsExactly(
                "kinema verify: case: got nowhere, expected a folder with a case.json, or a tree of such folders");
    }

    /** A copy of a case whose first check asks for other points than its stored result has. */
    private Path spoiltCase() throws IOException {
        Path original = GOLDENS.resolve("scheduler/grid");
        Path copy = folder.resolve("spoilt");
        try (Stream<Path> files = Files.walk(original)) {
            for (Path file : files.toList()) {
                Files.copy(file, copy.resolve(original.relativize(file).toString()));
            }
        }
        Path description = copy.resolve("case.json");
        String text = Files.readString(description);
        String spoilt = text.replaceFirst("(?s)(\"op\": *\"sigmas\".{0,80}?\"points\": *)2", "$13");
        assertThat(spoilt).isNotEqualTo(text);
        Files.writeString(description, spoilt);
        return copy;
    }
}
