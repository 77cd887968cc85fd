package io.kinema.compute.collective;

import static io.kinema.compute.collective.ReductionCases.CHUNK;
import static io.kinema.compute.collective.ReductionCases.PLENTY;
import static io.kinema.compute.collective.ReductionCases.TIMEOUT;
import static io.kinema.compute.collective.ReductionCases.even;
import static io.kinema.compute.collective.ReductionCases.partial;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kinema.compute.Tensor;
import io.kinema.compute.collective.ReductionCases.Corrupting;
import io.kinema.compute.collective.ReductionCases.Ordered;
import io.kinema.compute.collective.ReductionCases.Values;
import io.kinema.compute.collective.RowReduction.Mode;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** What a plan refuses, and when its memory goes. */
class PeerRowPlanTest {
    /** An order that changes from call to call, and a sum in a wider type, are no order that peers could follow. */
    @Test
    void whatIsNoOrderIsRefused() {
        try (RankGroup group = RankGroup.open(4, TIMEOUT)) {
            for (boolean wide : new boolean[] {false, true}) {
                assertThat(group.each(rank -> {
                    AtomicInteger calls = new AtomicInteger();
                    Ordered changing = new Ordered(rank, i -> wide ? -1 : i + calls.getAndIncrement());
                    return PeerRowPlan.open(changing, even(8), 5, PLENTY);
                })).as("wide %s", wide).allSatisfy(setup -> assertThat(setup).isInstanceOfSatisfying(PeerRowPlan.Refused.class,
                        refused -> assertThat(refused.reason()).contains("order of addition cannot be told")));
            }
        }
    }

    /** Memory for sequences that were published: 124 frames of 1280 x 736 with and without references, 5376 channels. */
    @Test
    void publishedShapesFitTheUsualBudget() {
        RowShares plain = new RowShares(34560, 4, 8640);
        assertThat(PeerRowPlan.bytes(plain, 5376)).isEqualTo(743_178_240L + 8640L * 5376 * 5);
        assertThat(PeerRowPlan.setupBytes(plain, 5376)).isLessThan(2L << 30);
        assertThat(PeerRowPlan.setupBytes(RowShares.padded(69325, 4, 64), 5376)).isLessThan(4L << 30);
    }

    @Test
    void oneCorruptedProbeIsRefusedByAllRanks() {
        try (RankGroup group = RankGroup.open(4, TIMEOUT, CHUNK)) {
            for (int probe = 0; probe < SumProbe.ALL.size(); probe++) {
                int corrupted = probe;
                List<PeerRowPlan.Setup> setups = group.each(rank -> PeerRowPlan.open(new Corrupting(rank, corrupted), even(8), 5, PLENTY));
                assertThat(setups).allSatisfy(setup -> assertThat(setup).isInstanceOfSatisfying(PeerRowPlan.Refused.class,
                        refused -> assertThat(refused.reason()).contains("order of addition cannot be told")));
            }
        }
    }

    /** What others read stays until the last of them has closed. */
    @Test
    void aPlansMemoryGoesWithItsLastReader() {
        try (RankGroup group = RankGroup.open(4, TIMEOUT, CHUNK)) {
            List<PeerRowPlan> plans = group.each(rank -> ((PeerRowPlan.Ready) PeerRowPlan.open(rank, even(8), 5, PLENTY)).plan());
            List<Tensor> sums = group.each(rank -> plans.get(rank.rank()).reduce(rank, partial(rank.rank(), 8, 5, Values.ORDINARY)));
            for (PeerRowPlan plan : plans) {
                assertThat(plans).allSatisfy(any -> assertThat(any.partial().data().scope().isAlive()).isTrue());
                assertThat(sums).allSatisfy(sum -> assertThat(sum.data().scope().isAlive()).isTrue());
                plan.close();
                plan.close();
            }
            assertThat(plans).allSatisfy(plan -> assertThat(plan.partial().data().scope().isAlive()).isFalse());
            assertThat(sums).allSatisfy(sum -> assertThat(sum.data().scope().isAlive()).isFalse());
        }
    }

    @Test
    void wrongUseIsRefused() {
        try (RankGroup group = RankGroup.open(4, TIMEOUT, CHUNK)) {
            List<PeerRowPlan> plans = group.each(rank -> ((PeerRowPlan.Ready) PeerRowPlan.open(rank, even(8), 5, PLENTY)).plan());
            assertThatThrownBy(() -> group.each(rank -> plans.get(rank.rank()).reduce(rank, Tensor.ofFloats(new float[20], 4, 5))))
                    .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("expected F32[8, 5] on cpu");
            assertThatThrownBy(() -> group.each(rank -> plans.get((rank.rank() + 1) % 4).reduce(rank, Tensor.ofFloats(new float[40], 8, 5))))
                    .isInstanceOf(IllegalStateException.class).hasMessageContaining("on its own thread");
            group.each(rank -> {
                plans.get(rank.rank()).close();
                plans.get(rank.rank()).close();
                return 0;
            });
            assertThatThrownBy(() -> group.each(rank -> plans.get(rank.rank()).reduce(rank, Tensor.ofFloats(new float[40], 8, 5))))
                    .isInstanceOf(IllegalStateException.class).hasMessageContaining("closed");
            assertThatThrownBy(() -> group.each(rank -> new RowReduction(Mode.NATIVE, 0).reduce(rank, Tensor.ofFloats(new float[30], 6, 5), even(8))))
                    .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("expected contiguous F32 rows for RowShares[rows=8, ranks=4, each=2]");
            assertThatThrownBy(() -> group.each(rank -> {
                RowReduction reduction = new RowReduction(Mode.NATIVE, 0);
                reduction.close();
                return reduction.reduce(rank, Tensor.ofFloats(new float[40], 8, 5), even(8));
            })).isInstanceOf(IllegalStateException.class).hasMessageContaining("row reduction is closed");
        }
    }

    /** More than the process may have, on one rank: refused by all, and nothing stays allocated. */
    @Test
    void memoryThatIsNotThereIsRefusedByAllRanks() {
        int columns = 1 << 20;
        try (RankGroup group = RankGroup.open(4, TIMEOUT, CHUNK)) {
            assertThat(group.each(rank -> PeerRowPlan.open(rank, RowShares.padded(1 << 20, 4, 1), columns, Long.MAX_VALUE))).allSatisfy(setup ->
                    assertThat(setup).isInstanceOfSatisfying(PeerRowPlan.Refused.class, refused -> assertThat(refused.reason())
                            .startsWith("insufficient free memory for residual communication setup: 1048576x1048576 takes ")));
        }
    }
}
