package io.kinema.compute.collective;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kinema.compute.Tensor;
import io.kinema.compute.collective.RowReduction.Mode;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class RowReductionTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(60);
    private static final long PLENTY = 1L << 30;
    /** Small, so that even small shapes have elements of every order. */
    private static final int CHUNK = 7;

    /** Rows, columns and what rows are padded to: all ranks with as many, some with fewer, some with none. */
    private static final List<int[]> SHAPES = List.of(new int[] {4, 3, 1}, new int[] {4, 1, 1}, new int[] {8, 5, 1}, new int[] {12, 7, 1}, new int[] {64, 33, 64},
            new int[] {100, 21, 1}, new int[] {256, 129, 64}, new int[] {4, 4099, 1}, new int[] {5, 3, 1}, new int[] {85, 33, 64}, new int[] {236, 48, 64}, new int[] {1, 9, 64});

    private enum Values {
        ORDINARY, WIDE, SUBNORMAL, SIGNED_ZERO, INFINITY, OVERFLOW;

        float next(Random random) {
            float x = (float) random.nextGaussian();
            return switch (this) {
                case ORDINARY -> x;
                case WIDE -> x * (float) Math.pow(2, random.nextInt(-60, 60));
                case SUBNORMAL -> Float.intBitsToFloat(random.nextInt(1 << 23) | random.nextInt(2) << 31);
                case SIGNED_ZERO -> random.nextBoolean() ? -0f : random.nextInt(4) == 0 ? x : 0f;
                case INFINITY -> random.nextInt(8) == 0 ? Float.POSITIVE_INFINITY : x;
                case OVERFLOW -> 1e38f * (1 + random.nextInt(3)) * (random.nextBoolean() ? 1 : -1);
            };
        }
    }

    static Stream<Arguments> cases() {
        return SHAPES.stream().flatMap(shape -> Arrays.stream(Values.values()).map(values -> Arguments.of(RowShares.padded(shape[0], 4, shape[2]), shape[1], values)));
    }

    /** 12 shapes x 6 kinds of values x 4 ranks = 288 comparisons. */
    @ParameterizedTest
    @MethodSource("cases")
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

    private static RowShares even(int rows) {
        return RowShares.padded(rows, 4, 1);
    }

    private static RowReduction.Report reportOf(Communicator rank, Mode mode, long budget) {
        RowReduction reduction = new RowReduction(mode, budget);
        reduction.reduce(rank, partial(rank.rank(), 8, 5, Values.ORDINARY), RowShares.padded(8, rank.size(), 1));
        reduction.close();
        return reduction.report();
    }

    private static Tensor partial(int rank, long rows, long columns, Values values) {
        Random random = new Random(31 * rank + 7 * rows + columns);
        float[] x = new float[(int) (rows * columns)];
        for (int i = 0; i < x.length; i++) {
            x[i] = values.next(random);
        }
        return Tensor.ofFloats(x, rows, columns);
    }

    private static int[] bits(Tensor rows) {
        float[] values = rows.toFloats();
        return IntStream.range(0, values.length).map(i -> Float.floatToRawIntBits(values[i])).toArray();
    }

    /** Changes one value of one all-reduce. */
    private static final class Corrupting implements Communicator {
        private final Communicator real;
        private final int corrupted;
        private int calls;

        Corrupting(Communicator real, int corrupted) {
            this.real = real;
            this.corrupted = corrupted;
        }

        @Override
        public void allReduce(Tensor values) {
            real.allReduce(values);
            if (calls++ == corrupted && rank() == 3) {
                var at = java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;
                long last = (values.elements() - 1) * Float.BYTES;
                values.data().set(at, last, values.data().get(at, last) == 2 ? 1 : 2);
            }
        }

        @Override
        public int rank() {
            return real.rank();
        }

        @Override
        public int size() {
            return real.size();
        }

        @Override
        public void allGather(Tensor part, Tensor whole) {
            real.allGather(part, whole);
        }

        @Override
        public void barrier() {
            real.barrier();
        }

        @Override
        public boolean agree(boolean mine) {
            return real.agree(mine);
        }

        @Override
        public <T> List<T> exchange(T mine) {
            return real.exchange(mine);
        }

        @Override
        public long bufferBytes() {
            return real.bufferBytes();
        }
    }
}
