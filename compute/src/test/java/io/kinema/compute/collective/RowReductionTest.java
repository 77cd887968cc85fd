package io.kinema.compute.collective;

import static io.kinema.compute.collective.ReductionCases.CHUNK;
import static io.kinema.compute.collective.ReductionCases.PLENTY;
import static io.kinema.compute.collective.ReductionCases.TIMEOUT;
import static io.kinema.compute.collective.ReductionCases.bits;
import static io.kinema.compute.collective.ReductionCases.even;
import static io.kinema.compute.collective.ReductionCases.partial;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kinema.compute.Tensor;
import io.kinema.compute.collective.ReductionCases.Ordered;
import io.kinema.compute.collective.ReductionCases.Values;
import io.kinema.compute.collective.RowReduction.Mode;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Peer rows are the all-reduce's, bit for bit. */
class RowReductionTest {
    /** 12 shapes x 6 kinds of values x 4 ranks = 288 comparisons. */
    @ParameterizedTest
    @MethodSource("io.kinema.compute.collective.ReductionCases#cases")
    void peerRowsHaveTheBitsOfTheAllReduce(RowShares shares, int columns, Values values) {
        int rows = shares.rows();
        try (RankGroup group = RankGroup.open(4, TIMEOUT, CHUNK)) {
            List<int[]> whole = group.each(rank -> {
                Tensor sum = partial(rank.rank(), rows, columns, values);
                rank.allReduce(sum);
                return bits(sum.rows(shares.from(rank.rank()), shares.to(rank.rank())));
            });
            List<int[]> own = group.each(rank -> {
                RowReduction reduction = new RowReduction(Mode.PEER, PLENTY);
                int[] bits = bits(reduction.reduce(rank, partial(rank.rank(), rows, columns, values), shares));
                int[] again = bits(reduction.reduce(rank, partial(rank.rank(), rows, columns, values), shares));
                assertThat(again).isEqualTo(bits);
                assertThat(reduction.report()).extracting(RowReduction.Report::peerCalls, RowReduction.Report::nativeCalls, RowReduction.Report::fallback)
                        .containsExactly(2L, 0L, Optional.empty());
                reduction.close();
                return bits;
            });
            for (int rank = 0; rank < 4; rank++) {
                assertThat(own.get(rank)).as("rank %d", rank).isEqualTo(whole.get(rank));
            }
        }
    }

    /** As many rows as 124 frames of 1280 x 736 have, in chunks of the usual size. */
    @Tag("long")
    @Test
    void soHaveRowsOfARealSequence() {
        RowShares shares = RowShares.padded(34551, 4, 64);
        try (RankGroup group = RankGroup.open(4, TIMEOUT)) {
            group.each(rank -> {
                Tensor sum = partial(rank.rank(), shares.rows(), 64, Values.WIDE);
                rank.allReduce(sum);
                try (RowReduction reduction = new RowReduction(Mode.PEER, PLENTY)) {
                    Tensor own = reduction.reduce(rank, partial(rank.rank(), shares.rows(), 64, Values.WIDE), shares);
                    assertThat(Arrays.equals(bits(own), bits(sum.rows(shares.from(rank.rank()), shares.to(rank.rank()))))).isTrue();
                    return reduction.report().peerCalls();
                }
            });
        }
    }

    /** Not only a ring's orders: whatever tree an element has, the probes find it, and peers add by it. */
    @ParameterizedTest
    @MethodSource("io.kinema.compute.collective.ReductionCases#cases")
    void everyTreeIsFoundWhereverItIsUsed(RowShares shares, int columns, Values values) {
        try (RankGroup group = RankGroup.open(4, TIMEOUT)) {
            group.each(rank -> {
                Tensor mine = partial(rank.rank(), shares.rows(), columns, values);
                List<float[]> all = rank.exchange(mine.toFloats());
                float[] expected = new float[shares.count(rank.rank()) * columns];
                for (int i = 0; i < expected.length; i++) {
                    int at = shares.from(rank.rank()) * columns + i;
                    expected[i] = Ordered.tree(at).sum(all.get(0)[at], all.get(1)[at], all.get(2)[at], all.get(3)[at]);
                }
                try (RowReduction reduction = new RowReduction(Mode.PEER, PLENTY)) {
                    int[] got = bits(reduction.reduce(new Ordered(rank, i -> i), mine, shares));
                    assertThat(got).isEqualTo(bits(Tensor.ofFloats(expected, shares.count(rank.rank()), columns)));
                    assertThat(reduction.report().peerCalls()).isEqualTo(1);
                }
                return 0;
            });
        }
    }

    /** The order differs from chunk to chunk, so one order for all elements is not the all-reduce's. */
    @Test
    void oneFixedOrderGivesOtherBits() {
        try (RankGroup group = RankGroup.open(4, TIMEOUT, CHUNK)) {
            List<Tensor> parts = IntStream.range(0, 4).mapToObj(rank -> partial(rank, 64, 33, Values.ORDINARY)).toList();
            float[] sum = group.each(rank -> {
                Tensor mine = partial(rank.rank(), 64, 33, Values.ORDINARY);
                rank.allReduce(mine);
                return mine.toFloats();
            }).getFirst();
            float[][] x = parts.stream().map(Tensor::toFloats).toArray(float[][]::new);
            for (SumTree tree : SumTree.ALL) {
                float[] fixed = new float[sum.length];
                tree.sum(x, 0, fixed.length, fixed);
                assertThat(Arrays.equals(fixed, sum)).as(tree.toString()).isFalse();
            }
        }
    }

    @Property(tries = 40)
    void everyNumberOfRanksHasOneResult(@ForAll @IntRange(min = 1, max = 5) int size, @ForAll @IntRange(min = 1, max = 40) int elements, @ForAll @IntRange(min = 1, max = 9) int chunk) {
        try (RankGroup group = RankGroup.open(size, TIMEOUT, chunk)) {
            List<float[]> sums = group.each(rank -> {
                Tensor mine = partial(rank.rank(), 1, elements, Values.WIDE);
                rank.allReduce(mine);
                return mine.toFloats();
            });
            assertThat(sums).allSatisfy(sum -> assertThat(sum).isEqualTo(sums.getFirst()));
            for (int i = 0; i < elements; i++) {
                double exact = 0;
                double magnitude = 0;
                for (int rank = 0; rank < size; rank++) {
                    double x = partial(rank, 1, elements, Values.WIDE).toFloats()[i];
                    exact += x;
                    magnitude += Math.abs(x);
                }
                assertThat(Math.abs(sums.getFirst()[i] - exact)).isLessThanOrEqualTo(size * Math.ulp(1f) * magnitude);
            }
        }
    }

    @Test
    void aBudgetIsKeptBeforeAnythingIsAllocated() {
        long need = PeerRowPlan.setupBytes(even(8), 5);
        try (RankGroup group = RankGroup.open(4, TIMEOUT, CHUNK)) {
            assertThat(group.each(rank -> reportOf(rank, Mode.PEER, need))).allSatisfy(report -> assertThat(report.peerCalls()).isEqualTo(1));
            assertThat(group.each(rank -> reportOf(rank, Mode.PEER, rank.rank() == 2 ? need - 1 : need))).allSatisfy(report -> {
                assertThat(report.nativeCalls()).isEqualTo(1);
                assertThat(report.bufferBytes()).isZero();
                assertThat(report.fallback()).hasValueSatisfying(reason -> assertThat(reason).startsWith("shape exceeds residual communication budget"));
            });
            assertThat(group.each(rank -> reportOf(rank, Mode.NATIVE, 0))).allSatisfy(report -> assertThat(report.fallback()).isEmpty());
        }
    }

    @Test
    void otherNumbersOfRanksUseTheAllReduce() {
        for (int size : new int[] {1, 2}) {
            try (RankGroup group = RankGroup.open(size, TIMEOUT, CHUNK)) {
                assertThat(group.each(rank -> reportOf(rank, Mode.PEER, PLENTY))).allSatisfy(report -> assertThat(report.fallback())
                        .contains("peer execution requires 4 ranks, there are " + size));
            }
        }
    }

    /** After the all-reduce the rows are a view of the partial, which holds the whole sum. */
    @Test
    void nativeRowsAreAViewOfThePartial() {
        try (RankGroup group = RankGroup.open(4, TIMEOUT, CHUNK)) {
            assertThat(group.each(rank -> {
                Tensor all = partial(rank.rank(), 8, 5, Values.ORDINARY);
                Tensor own = new RowReduction(Mode.NATIVE, 0).reduce(rank, all, even(8));
                return own.data().address() == all.rows(even(8).from(rank.rank()), 8).data().address();
            })).containsOnly(true);
        }
    }

    @Test
    void aPlanIsKeptWhileTheShapeStays() {
        try (RankGroup group = RankGroup.open(4, TIMEOUT, CHUNK)) {
            assertThat(group.each(rank -> {
                RowReduction reduction = new RowReduction(Mode.PEER, PLENTY);
                Tensor first = reduction.reduce(rank, partial(rank.rank(), 8, 5, Values.ORDINARY), even(8));
                Tensor second = reduction.reduce(rank, partial(rank.rank(), 8, 5, Values.WIDE), even(8));
                assertThat(second).as("the same memory").isSameAs(first);
                double setup = reduction.report().setupSeconds();
                reduction.reduce(rank, partial(rank.rank(), 8, 5, Values.WIDE), even(8));
                assertThat(reduction.report().setupSeconds()).isEqualTo(setup);
                reduction.reduce(rank, partial(rank.rank(), 12, 5, Values.WIDE), even(12));
                assertThat(reduction.report().setupSeconds()).isGreaterThan(setup);
                reduction.close();
                reduction.close();
                return reduction.report().peerCalls();
            })).containsOnly(4L);
        }
    }

    /** One rank fails while the others are in the reduction: all end with its failure, though it closes what they read first. */
    @Test
    void aFailureDuringAReductionEndsAllRanks() {
        try (RankGroup group = RankGroup.open(4, TIMEOUT, CHUNK)) {
            assertThatThrownBy(() -> group.each(rank -> {
                RowReduction mine = new RowReduction(Mode.PEER, PLENTY);
                try (mine) {
                    mine.reduce(rank, partial(rank.rank(), 8, 5, Values.ORDINARY), even(8));
                    if (rank.rank() == 2) {
                        throw new IllegalStateException("rank 2 fails");
                    }
                    return mine.reduce(rank, partial(rank.rank(), 8, 5, Values.ORDINARY), even(8));
                }
            })).hasMessage("rank 2 fails");
        }
    }

    private static RowReduction.Report reportOf(Communicator rank, Mode mode, long budget) {
        RowReduction reduction = new RowReduction(mode, budget);
        reduction.reduce(rank, partial(rank.rank(), 8, 5, Values.ORDINARY), RowShares.padded(8, rank.size(), 1));
        reduction.close();
        return reduction.report();
    }
}
