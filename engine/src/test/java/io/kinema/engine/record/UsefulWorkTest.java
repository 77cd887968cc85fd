package io.kinema.engine.record;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;

class UsefulWorkTest {
    /** The released transformer with its modulation input pruned to 8. */
    private static final UsefulWork PRUNED = new UsefulWork(5376, 7168, 14336, 50, 2, 5120, 96, 32, 8);

    @Test
    void givesThePublishedIntegerOfTheReleasedModel() {
        UsefulWork.Rows rows = new UsefulWork.Rows(97, 12_096, 12_096, 130, 130);
        double total = PRUNED.evaluation(rows, 1);
        for (int i = 0; i < 19; i++) {
            total += PRUNED.evaluation(rows, 2);
        }
        assertThat(total / 4).isEqualTo(3_463_753_579_661_312.0);
    }

    @Test
    void givesThePublishedSizeOfTheLongRun() {
        UsefulWork full = new UsefulWork(5376, 7168, 14336, 50, 2, 5120, 96, 32, 2688);
        double forward = full.evaluation(new UsefulWork.Rows(97, 34_040, 34_040, 414, 414), 2);
        assertThat(forward).isCloseTo(3.043e15, within(1e12));
    }

    @Test
    void conditionRowsReachNoHead() {
        double generated = PRUNED.evaluation(new UsefulWork.Rows(10, 100, 100, 20, 20), 2);
        double conditioned = PRUNED.evaluation(new UsefulWork.Rows(10, 100, 90, 20, 20), 2);
        assertThat(generated - conditioned).isEqualTo(2.0 * 5376 * 96 * 10);
    }
}
