package io.kinema.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.kinema.engine.BadRequestException;
import io.kinema.media.BadMediaException;
import io.kinema.weights.BadWeightsException;
import org.junit.jupiter.api.Test;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** Exit codes and lines for what commands throw. */
class FailuresTest {
    private final Captured terminal = new Captured(false);
    private final CommandSpec command = CommandSpec.create().name("kinema generate")
            .addOption(OptionSpec.builder("--aspect-ratio").build()).addOption(OptionSpec.builder("--width").build())
            .addOption(OptionSpec.builder("--height").build());

    @Test
    void wrongInputIsTwo() {
        assertThat(report(new BadWeightsException("a.safetensors: truncated, got 3 bytes"))).isEqualTo(2);
        assertThat(terminal.errors()).containsExactly("kinema generate: a.safetensors: truncated, got 3 bytes");
    }

    @Test
    void requestFieldsAreNamedAsTheirOptions() {
        report(new BadRequestException("aspectRatio", "'x'", "expected A:B"));
        report(new BadRequestException("width and height", "9x9", "expected more"));
        report(new BadRequestException("prompt", "an empty text", "expected a description"));
        assertThat(terminal.errors()).containsExactly("kinema generate: --aspect-ratio: got 'x', expected A:B",
                "kinema generate: --width and --height: got 9x9, expected more",
                "kinema generate: prompt: got an empty text, expected a description");
    }

    @Test
    void fieldsThatAreNoOptionsStayAsTheyAre() {
        report(new BadRequestException("/x/case.json check 3 op", "y", "expected z"));
        assertThat(terminal.errors()).containsExactly("kinema generate: /x/case.json check 3 op: got y, expected z");
    }

    @Test
    void anythingElseIsOneAndPointsToDebug() {
        assertThat(report(new IllegalStateException("the dog\nate it"))).isEqualTo(1);
        assertThat(terminal.errors()).containsExactly("kinema generate: failed with IllegalStateException: the dog ate it (--debug shows where)");
    }

    @Test
    void escapeSequencesOfNamesNeverReachTheTerminal() {
        report(new BadMediaException("The picture 'a\u001b[2J\nb\u202e.png' is damaged"));
        report(new BadRequestException("aspectRatio", "'\u001b]0;x\u0007'", "expected A:B"));
        report(new IllegalStateException("x\u001b[31m"));
        assertThat(terminal.errors()).containsExactly("kinema generate: The picture 'a?[2J?b?.png' is damaged",
                "kinema generate: --aspect-ratio: got '?]0;x?', expected A:B",
                "kinema generate: failed with IllegalStateException: x?[31m (--debug shows where)");
    }

    @Test
    void debugShowsWhere() {
        Failures.report(new IllegalStateException("x"), command, terminal.terminal(), true);
        assertThat(terminal.err()).contains("IllegalStateException: x\n", "\tat io.kinema.cli.FailuresTest");
    }

    private int report(Throwable failure) {
        return Failures.report(failure, command, terminal.terminal(), false);
    }
}
