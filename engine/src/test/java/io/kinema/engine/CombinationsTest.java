package io.kinema.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What may not change a bit of a clip changes none, whatever else is chosen. */
@Tag("long")
class CombinationsTest {
    private static final int ENGINES = 120;

    @TempDir
    private Path folder;

    @Test
    void whatDecidesNoBitsChangesNone() {
        CombinationWalk.Met met = new CombinationWalk("cpu", folder, System.nanoTime()).walk(ENGINES);
        assertThat(met.digests().size()).as("choices that were met more than once").isLessThan(met.engines());
    }
}
