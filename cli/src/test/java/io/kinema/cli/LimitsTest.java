package io.kinema.cli;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Measuring commands refuse sizes that they cannot measure, before a weight is made. */
class LimitsTest {
    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "step --layers 0              | --layers: got 0, expected 1 to 50",
        "step --layers 51             | --layers: got 51, expected 1 to 50",
        "step --video-rows 0          | --video-rows: got 0, expected 1 to",
        "step --video-rows 2000000000 | --video-rows: got 2000000000, expected 1 to",
        "step --audio-rows -1         | --audio-rows: got -1, expected 0 to",
        "step --text-rows -1          | --text-rows: got -1, expected 0 to",
        "step --runs 0                | --runs: got 0, expected 1 to",
        "decode --latent-frames -3    | --latent-frames: got -3, expected 3 to",
        "decode --latent-height 0     | --latent-height: got 0, expected 1 to",
        "decode --latent-width 0      | --latent-width: got 0, expected 1 to",
        "decode --latent-height 100000 --latent-width 100000 | got 37x100000x100000, expected at most",
        "decode --runs 0              | --runs: got 0, expected 1 to",
        "decode --rows-together -1    | --rows-together: got -1, expected 0",
        "plan x --max-host-memory much | --max-host-memory: got 'much', expected a number of bytes such as",
        "plan x --device cuda:0,      | --device: got 'cuda:0,', expected a device on both sides of each comma",
        "plan x --residual-sequence-parallel --residual-reduction peer --residual-reduction-memory-gib 1e300 | got 1.0E300, expected more than 0 and at most",
    })
    void aNumberOutsideItsRange(String arguments, String says) {
        Captured terminal = new Captured(false);
        assertThat(terminal.kinema((arguments + (arguments.startsWith("plan") ? "" : " --device cpu")).split(" "))).isEqualTo(ExitCode.BAD_INPUT);
        assertThat(terminal.errors()).hasSize(1).first().asString().contains(says);
        assertThat(terminal.out()).isEmpty();
    }
}
