package io.kinema.compute.collective;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kinema.compute.Tensor;
import io.kinema.compute.collective.RowReduction.Mode;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
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

    private static final List<long[]> SHAPES = List.of(new long[] {4, 3}, new long[] {4, 1}, new long[] {8, 5}, new long[] {12, 7}, new long[] {64, 33},
            new long[] {100, 21}, new long[] {256, 129}, new long[] {4, 4099});

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
        return SHAPES.stream().flatMap(shape -> Arrays.stream(Values.values()).map(values -> Arguments.of(shape[0], shape[1], values)));
    }

    /** 8 shapes x 6 kinds of values x 4 ranks = 192 comparisons. */
    @ParameterizedTest
    @MethodSource("cases")
    void peerRowsHaveTheBitsOfTheAllReduce(long rows, long columns, Values values) {
        try (RankGroup group = RankGroup.open(4, TIMEOUT, CHUNK)) {
            List<int[]> whole = group.each(rank -> {
                Tensor sum = partial(rank.rank(), rows, columns, values);
                rank.allReduce(sum);
                return bits(sum.rows(rank.rank() * rows / 4, (rank.rank() + 1) * rows / 4));
            });
            List<int[]> own = group.each(rank -> {
                RowReduction reduction = new RowReduction(Mode.PEER, PLENTY);
                int[] bits = bits(reduction.reduce(rank, partial(rank.rank(), rows, columns, values)));
                int[] again = bits(reduction.reduce(rank, partial(rank.rank(), rows, columns, values)));
                assertThat(again).isEqualTo(bits);
                assertThat(reduction.report()).extracting(RowReduction.Report::peerCalls, RowReduction.Report::nativeCalls, RowReduction.Report::fallback)
                        .containsExactly(2L, 0L, java.util.Optional.empty());
                reduction.close(rank);
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
                List<PeerRowPlan.Setup> setups = group.each(rank -> PeerRowPlan.open(new Corrupting(rank, corrupted), 8, 5, PLENTY));
                assertThat(setups).allSatisfy(setup -> assertThat(setup).isInstanceOfSatisfying(PeerRowPlan.Refused.class,
                        refused -> assertThat(refused.reason()).contains("order of addition cannot be told")));
            }
        }
    }

    @Test
    void aBudgetIsKeptBeforeAnythingIsAllocated() {
        long need = PeerRowPlan.setupBytes(8, 5);
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
                Tensor first = reduction.reduce(rank, partial(rank.rank(), 8, 5, Values.ORDINARY));
                Tensor second = reduction.reduce(rank, partial(rank.rank(), 8, 5, Values.WIDE));
                assertThat(second).as("the same memory").isSameAs(first);
                double setup = reduction.report().setupSeconds();
                reduction.reduce(rank, partial(rank.rank(), 8, 5, Values.WIDE));
                assertThat(reduction.report().setupSeconds()).isEqualTo(setup);
                reduction.reduce(rank, partial(rank.rank(), 12, 5, Values.WIDE));
                assertThat(reduction.report().setupSeconds()).isGreaterThan(setup);
                reduction.close(rank);
                reduction.close(rank);
                return reduction.report().peerCalls();
            })).containsOnly(4L);
        }
    }

    @Test
    void wrongUseIsRefused() {
        try (RankGroup group = RankGroup.open(4, TIMEOUT, CHUNK)) {
            List<PeerRowPlan> plans = group.each(rank -> ((PeerRowPlan.Ready) PeerRowPlan.open(rank, 8, 5, PLENTY)).plan());
            assertThatThrownBy(() -> group.each(rank -> plans.get(rank.rank()).reduce(rank, Tensor.ofFloats(new float[20], 4, 5))))
                    .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("expected F32[8, 5]");
            assertThatThrownBy(() -> group.each(rank -> plans.get((rank.rank() + 1) % 4).reduce(rank, Tensor.ofFloats(new float[40], 8, 5))))
                    .isInstanceOf(IllegalStateException.class).hasMessageContaining("on its own thread");
            group.each(rank -> {
                plans.get(rank.rank()).close(rank);
                plans.get(rank.rank()).close(rank);
                return 0;
            });
            assertThatThrownBy(() -> group.each(rank -> plans.get(rank.rank()).reduce(rank, Tensor.ofFloats(new float[40], 8, 5))))
                    .isInstanceOf(IllegalStateException.class).hasMessageContaining("closed");
            assertThatThrownBy(() -> group.each(rank -> new RowReduction(Mode.NATIVE, 0).reduce(rank, Tensor.ofFloats(new float[30], 6, 5))))
                    .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("a multiple of 4");
        }
    }

    private static RowReduction.Report reportOf(Communicator rank, Mode mode, long budget) {
        RowReduction reduction = new RowReduction(mode, budget);
        reduction.reduce(rank, partial(rank.rank(), 8, 5, Values.ORDINARY));
        reduction.close(rank);
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
