package io.kinema.compute.collective;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.IntStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

class RingOrderTest {
    /** Every element has one rank that adds it, whatever the tail. */
    @Property(tries = 200)
    void rangesOfRanksFollowOneAnother(@ForAll @IntRange(min = 1, max = 300) int elements, @ForAll @IntRange(min = 1, max = 40) int chunk,
                                       @ForAll @IntRange(min = 1, max = 8) int ranks) {
        RingOrder order = new RingOrder(elements, chunk, ranks);
        assertThat(order.firstElement(0)).isZero();
        assertThat(order.firstElement(ranks)).isEqualTo(elements);
        for (int rank = 0; rank < ranks; rank++) {
            assertThat(order.firstElement(rank)).isLessThanOrEqualTo(order.firstElement(rank + 1));
            assertThat(order.firstElement(rank) % chunk == 0 || order.firstElement(rank) == elements).isTrue();
        }
    }

    @Test
    void chunksBeginWithTheRankAfterTheirOwn() {
        RingOrder order = new RingOrder(100, 10, 4);
        assertThat(IntStream.range(0, 4).map(k -> order.rankAt(5, k))).containsExactly(2, 3, 0, 1);
        assertThat(IntStream.range(0, 4).map(k -> order.rankAt(7, k))).containsExactly(0, 1, 2, 3);
    }
}
