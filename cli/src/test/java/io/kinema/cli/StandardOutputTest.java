package io.kinema.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A result that standard output does not take is a failure; a reader that has seen enough is not. */
class StandardOutputTest {
    @TempDir
    private Path folder;

    @ParameterizedTest
    @CsvSource({"inspect models/h3-nano --json, >/dev/full", "inspect models/h3-nano, >&-", "plan hello --json, >/dev/full", "--help, >/dev/full"})
    void aResultThatIsLostIsAFailure(String command, String redirection) {
        Shell.Result result = Shell.bare(folder).bash("cd \"$1\" && ./kinema " + command + " " + redirection, Shell.ROOT.toString());
        assertThat(result.exit()).as(result.err()).isEqualTo(ExitCode.FAILED);
        assertThat(result.errors()).singleElement().asString().startsWith("kinema: standard output cannot be written");
    }

    @ParameterizedTest
    @ValueSource(strings = {"inspect models/h3-nano --json", "--help"})
    void aReaderThatHasSeenEnoughIsNone(String command) {
        Shell.Result result = Shell.bare(folder).bash("cd \"$1\" && ./kinema " + command + " | head -0; exit ${PIPESTATUS[0]}", Shell.ROOT.toString());
        assertThat(result.err()).isEmpty();
        assertThat(result.exit()).isZero();
    }
}
