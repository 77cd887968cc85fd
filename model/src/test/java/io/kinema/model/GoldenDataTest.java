package io.kinema.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** Says whether the golden tests of this run saw the full set or the bundled subset. */
class GoldenDataTest {
    @Test
    void theFullSetIsHere() {
        assumeTrue(GoldenCase.full().isPresent(), "the full golden data is not on this machine, golden tests run the bundled subset; name its folder in KINEMA_GOLDENS");
        Path full = GoldenCase.full().orElseThrow();
        assertThat(full.resolve("transformer")).isDirectory();
        assertThat(full.resolve("text_encoder")).isDirectory();
    }
}
