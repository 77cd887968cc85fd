package io.kinema.engine.record;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.assertj.core.api.Assertions.withinPercentage;

import org.junit.jupiter.api.Test;

/** The closed formula against numbers that were published for the released model. */
class UsefulWorkTest {
    /** The released transformer with its modulation input pruned to a table of 8. */
    private static final UsefulWork PRUNED = new UsefulWork(5376, 7168, 14336, 50, 2, 5120, 96, 32, 8, 0);
    private static final UsefulWork FULL = new UsefulWork(5376, 7168, 14336, 50, 2, 5120, 96, 32, 2688, 256 * 5376 + 5376 * 2688);
    private static final UsefulWork.Rows LONG = new UsefulWork.Rows(97, 34_040, 34_040, 414, 414);
    private static final int CARDS = 4;

    @Test
    void givesThePublishedIntegerOfTheReleasedModel() {
        UsefulWork.Rows rows = new UsefulWork.Rows(97, 12_096, 12_096, 130, 130);
        assertThat(rows.all()).isEqualTo(12_323);
        long total = PRUNED.forward(rows, 1);
        for (int i = 0; i < 19; i++) {
            total += PRUNED.forward(rows, 2);
        }
        assertThat(total % CARDS).isZero();
        assertThat(total / CARDS).isEqualTo(3_463_753_579_661_312L);
    }

    @Test
    void givesThePublishedSizeOfTheLongRun() {
        assertThat(LONG.all()).isEqualTo(34_551);
        assertThat((double) FULL.forward(LONG, 2)).isCloseTo(3.043e15, within(1e12));
    }

    /** 53.235745 TFLOP/s a card for 58.293218 s, four calls with an adapter of rank 128 on four cards. */
    @Test
    void givesThePublishedRateOfTheAdapterRun() {
        long calls = PRUNED.forward(LONG, 1) + 3 * PRUNED.forward(LONG, 2) + 4 * PRUNED.adapter(LONG, 128, CARDS);
        assertThat(calls / (double) CARDS).isCloseTo(53.235745e12 * 58.293218, withinPercentage(5e-5));
    }

    @Test
    void conditionRowsReachNoHead() {
        long generated = PRUNED.step(new UsefulWork.Rows(10, 100, 100, 20, 20));
        long conditioned = PRUNED.step(new UsefulWork.Rows(10, 100, 90, 20, 20));
        assertThat(generated - conditioned).isEqualTo(2 * 5376 * 96 * 10);
    }

    @Test
    void whatARequestSharesIsCountedOnce() {
        assertThat(PRUNED.forward(LONG, 2)).isEqualTo(PRUNED.step(LONG) + PRUNED.preparation(LONG, 2));
        assertThat(PRUNED.preparation(LONG, 3) - PRUNED.preparation(LONG, 2)).isEqualTo(2L * 8 * (50 * 18 + 2) * 5376);
    }
}
