package io.kinema.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.kinema.engine.Progress;
import io.kinema.engine.Stage;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a request's events look like in a log and on a terminal. */
class ProgressPrinterTest {
    private static final String TIME = " +\\d+\\.\\d s  ";

    @Test
    void aLogGetsPlainLines() {
        Captured terminal = new Captured(false);
        play(terminal, false);
        List<String> lines = terminal.errors();
        assertThat(lines).hasSize(5);
        assertThat(lines.get(0)).matches(TIME + "loading the model");
        assertThat(lines.get(1)).matches(TIME + "20 frames become 22");
        assertThat(lines.get(2)).matches(TIME + "denoising");
        assertThat(lines.get(3)).matches(TIME + "denoising, step 1/3, 4\\.0 s left");
        assertThat(lines.get(4)).matches(TIME + "denoising, step 3/3, 0\\.0 s left");
    }

    @Test
    void aTerminalGetsOneRewrittenLineAndLastingNotes() {
        Captured terminal = new Captured(true);
        play(terminal, false);
        assertThat(terminal.err()).contains("\r\033[K", "denoising, step 2/3, 2.0 s left");
        assertThat(terminal.err().split("\n")).as("the note stays, the rest is rewritten").hasSize(2);
        assertThat(terminal.err()).endsWith("\r\033[K");
    }

    @Test
    void quietIsQuiet() {
        Captured terminal = new Captured(true);
        play(terminal, true);
        assertThat(terminal.err()).isEmpty();
    }

    @Test
    void severalOutputsAreNumbered() {
        Captured terminal = new Captured(false);
        try (ProgressPrinter printer = ProgressPrinter.start(terminal.terminal(), false)) {
            printer.progress(new Progress.OutputStarted(1, 3, 8));
            printer.progress(new Progress.StageStarted(Stage.AUDIO_DECODING));
        }
        assertThat(terminal.err()).contains("clip 2/3, seed 8: decoding the sound");
    }

    @ParameterizedTest
    @CsvSource({"0, 0.0 s", "949, 0.9 s", "59940, 59.9 s", "59960, 1:00 min", "3725000, 62:05 min"})
    void timesAreShort(long milliseconds, String text) {
        assertThat(ProgressPrinter.seconds(Duration.ofMillis(milliseconds))).isEqualTo(text);
    }

    private static void play(Captured terminal, boolean quiet) {
        try (ProgressPrinter printer = ProgressPrinter.start(terminal.terminal(), quiet)) {
            printer.progress(new Progress.StageStarted(Stage.LOADING));
            printer.progress(new Progress.Message("20 frames become 22"));
            printer.progress(new Progress.StageFinished(Stage.LOADING, Duration.ofMillis(3)));
            printer.progress(new Progress.StageStarted(Stage.DENOISING));
            for (int step = 1; step <= 3; step++) {
                printer.progress(new Progress.StepFinished(step, 3, Duration.ofSeconds(2L * step), Duration.ofSeconds(6 - 2L * step)));
            }
        }
    }
}
