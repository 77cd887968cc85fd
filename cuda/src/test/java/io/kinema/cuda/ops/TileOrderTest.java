package io.kinema.cuda.ops;

import static org.assertj.core.api.Assertions.assertThat;

import io.kinema.cuda.driver.GpuFacts;
import io.kinema.cuda.ops.ProductForm.Step;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

class TileOrderTest {
    private static final GpuFacts GPU = new GpuFacts(0, 0, "of 132", 9, 0, 132, 50 << 20, 227 << 10, 140L << 30);
    private static final int ROWS = 14 * 1797;

    private static TileOrder order(ProductForm form, Step step, int n, int k) {
        return TileOrder.of(form, step, GPU, ROWS, n, k);
    }

    @Test
    void aWideProductSharesTheRowsThatFitInAThirdOfTheCache() {
        // 384 rows of 2048 are 1.5 MiB, and 66 rows of tiles in groups of at most 11 are six groups; 99 in groups of at most 17 are six, too.
        assertThat(order(ProductForm.THREE_CONSUMERS, Step.SWIGLU, 8192, 2048)).isEqualTo(new TileOrder(66, 11));
        assertThat(order(ProductForm.TWO_CONSUMERS, Step.SWIGLU, 8192, 2048)).isEqualTo(new TileOrder(66, 17));
        // Groups are of one size: 50 rows of tiles are five times ten rather than four times eleven and six.
        assertThat(TileOrder.of(ProductForm.THREE_CONSUMERS, Step.SWIGLU, GPU, 50 * 384, 8192, 2048)).isEqualTo(new TileOrder(66, 10));
    }

    @Test
    void aNarrowProductKeepsTilesOfTheSameRowsTogether() {
        assertThat(order(ProductForm.THREE_CONSUMERS, Step.RESIDUAL, 2048, 8192)).isEqualTo(new TileOrder(66, 4));
        assertThat(order(ProductForm.TWO_IN_TURNS, Step.HEADS, 2048, 2048)).isEqualTo(new TileOrder(66, 4));
    }

    @Test
    void aFewRowsTakeAsManyClustersAsTheyHaveTiles() {
        assertThat(TileOrder.of(ProductForm.THREE_CONSUMERS, Step.STORE, GPU, 1, 2048, 64)).isEqualTo(new TileOrder(8, 1));
    }

    @Property(tries = 200)
    void noOrderAsksForMoreThanThereIs(@ForAll @IntRange(min = 1, max = 200_000) int m, @ForAll @IntRange(min = 8, max = 60_000) int n,
                                       @ForAll @IntRange(min = 8, max = 60_000) int k, @ForAll ProductForm form, @ForAll Step step) {
        TileOrder order = TileOrder.of(form, step, GPU, m, n, k);
        assertThat(order.clusters()).isBetween(1, GPU.processors() / form.blocks());
        assertThat(order.together()).isBetween(1, Math.ceilDiv(m, form.clusterRows()));
    }
}
