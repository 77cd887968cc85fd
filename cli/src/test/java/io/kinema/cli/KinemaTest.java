package io.kinema.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Arguments, exit codes and the shape of messages, without starting a process. */
class KinemaTest {
    private final Captured terminal = new Captured(false);

    @Test
    void helpGoesToStandardOutput() {
        assertThat(terminal.kinema("--help")).isZero();
        assertThat(terminal.out()).contains("Usage: kinema", "Exit codes:", "doctor");
        assertThat(terminal.err()).isEmpty();
    }

    @Test
    void namesTheNearestOption() {
        assertThat(terminal.kinema("doctor", "--jsno")).isEqualTo(2);
        assertThat(terminal.errors()).containsExactly("kinema doctor: unknown option '--jsno'; the nearest is '--json'; --help lists them all");
    }

    @Test
    void namesTheNearestCommand() {
        assertThat(terminal.kinema("docter")).isEqualTo(2);
        assertThat(terminal.errors()).containsExactly("kinema: unknown command 'docter'; the nearest is 'doctor'; --help lists them all");
    }

    @Test
    void asksForACommand() {
        assertThat(terminal.kinema()).isEqualTo(2);
        assertThat(terminal.errors()).singleElement().asString().contains("which command?", "doctor");
    }

    @Test
    void optionsMayNotBeAbbreviated() {
        assertThat(terminal.kinema("doctor", "--js")).isEqualTo(2);
    }

    @Test
    void anArgumentThatBeginsWithAtIsNoFileOfArguments(@TempDir Path folder) throws IOException {
        Path file = Files.writeString(folder.resolve("arguments"), "--version");
        assertThat(terminal.kinema("@" + file)).isEqualTo(2);
        assertThat(terminal.errors()).singleElement().asString().startsWith("kinema: unknown command '@" + file + "'");
    }

    @Test
    void doctorPrintsOneJsonDocument() throws IOException {
        terminal.kinema("doctor", "--json");
        JsonNode document = new ObjectMapper().readTree(terminal.out());
        assertThat(document.path("jdk").path("value").asText()).startsWith(Runtime.version().toString());
        assertThat(document.path("system").path("ok").isBoolean()).isTrue();
    }

    @Test
    void doctorExplainsWhatIsMissing() {
        // Tests run without the launcher, hence without a start-up cache.
        assertThat(terminal.kinema("doctor")).isEqualTo(1);
        assertThat(terminal.out()).contains("!!   startup cache  none\n" + " ".repeat(20) + "start Kinema with the kinema script");
    }
}
