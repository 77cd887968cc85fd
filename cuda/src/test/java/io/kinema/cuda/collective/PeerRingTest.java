package io.kinema.cuda.collective;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kinema.compute.Tensor;
import io.kinema.compute.collective.Communicator;
import io.kinema.compute.collective.RankGroup;
import io.kinema.compute.collective.RingOrder;
import io.kinema.compute.collective.RowReduction;
import io.kinema.compute.collective.RowReduction.Mode;
import io.kinema.compute.collective.RowShares;
import io.kinema.cuda.driver.StandInDriver;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Ranks that share a GPU, over a driver that is played by Java: what is enqueued, with which arguments and in which order. */
class PeerRingTest {
    private static final Duration TIMEOUT = Duration.ofMinutes(10);
    private static final long PLENTY = 1L << 30;
    private static final int SMALL_CHUNK = 8;

    @FunctionalInterface
    private interface Work<T> {
        T run(Communicator ring, StandInGpu gpu);
    }

    private static <T> List<T> on(int ranks, int chunk, long memory, Work<T> work) {
        return on(StandInGpu.driver(), ranks, chunk, memory, work);
    }

    /** Ends are closed when no rank works any more, as a group of backends does. */
    private static <T> List<T> on(StandInDriver driver, int ranks, int chunk, long memory, Work<T> work) {
        try (RankGroup group = RankGroup.open(ranks, TIMEOUT)) {
            List<StandInGpu> gpus = group.each(_ -> new StandInGpu(driver, 0, memory));
            List<PeerRing> rings = group.each(host -> new PeerRing(host, gpus.get(host.rank()).gpu(), chunk));
            try {
                return group.each(host -> work.run(rings.get(host.rank()), gpus.get(host.rank())));
            } finally {
                group.each(host -> {
                    rings.get(host.rank()).close();
                    gpus.get(host.rank()).close();
                    return host;
                });
            }
        }
    }

    private static Tensor values(int rank, long rows, long columns) {
        Random random = new Random(100 * rows + columns + 7L * rank);
        float[] x = new float[(int) (rows * columns)];
        for (int i = 0; i < x.length; i++) {
            x[i] = (float) (random.nextGaussian() * Math.pow(2, random.nextInt(-20, 20)));
        }
        return Tensor.ofFloats(x, rows, columns);
    }

    /** The sums of ranks on the host and of ranks on a GPU have the same bits; chunks of the engine's own size, and a tail. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4})
    void sumsHaveTheBitsOfRanksOnTheHost(int ranks) {
        long columns = 3L * RingOrder.CHUNK + 77;
        List<float[]> device = on(ranks, RingOrder.CHUNK, PLENTY, (ring, gpu) -> {
            Tensor mine = gpu.upload(values(ring.rank(), 2, columns));
            ring.allReduce(mine);
            return StandInGpu.download(mine).toFloats();
        });
        try (RankGroup host = RankGroup.open(ranks, TIMEOUT)) {
            List<float[]> expected = host.each(rank -> {
                Tensor mine = values(rank.rank(), 2, columns);
                rank.allReduce(mine);
                return mine.toFloats();
            });
            for (int rank = 0; rank < ranks; rank++) {
                assertThat(Arrays.equals(device.get(rank), expected.get(rank))).as("rank %d", rank).isTrue();
            }
        }
    }

    @Test
    void gathersInTheOrderOfRanks() {
        assertThat(on(3, SMALL_CHUNK, PLENTY, (ring, gpu) -> {
            Tensor whole = gpu.upload(Tensor.ofInts(new int[6], 3, 2));
            ring.allGather(gpu.upload(Tensor.ofInts(new int[] {ring.rank(), 10 + ring.rank()}, 1, 2)), whole);
            Tensor host = StandInGpu.download(whole);
            return List.of(host.get(0, 1), host.get(1, 0), host.get(1, 1), host.get(2, 1));
        })).containsOnly(List.of(10.0, 1.0, 11.0, 12.0));
    }

    /** Every stream waits for every other one before it reads what they wrote, and before they go on. */
    @Test
    void streamsWaitForOneAnotherBeforeAndAfterASum() {
        StandInDriver driver = StandInGpu.driver();
        on(driver, 3, SMALL_CHUNK, PLENTY, (ring, gpu) -> {
            ring.allReduce(gpu.upload(values(ring.rank(), 4, 5)));
            return 0;
        });
        assertThat(driver.waits()).isEqualTo(2 * 3 * 2);
    }

    @ParameterizedTest
    @CsvSource({"4, 3", "8, 5", "64, 33", "100, 21", "4, 4099", "256, 128", "5, 9", "2, 6"})
    void peerRowsHaveTheBitsOfTheSum(int rows, int columns) {
        List<Boolean> same = on(4, SMALL_CHUNK, PLENTY, (ring, gpu) -> {
            Tensor whole = gpu.upload(values(ring.rank(), rows, columns));
            Tensor partial = gpu.upload(values(ring.rank(), rows, columns));
            ring.allReduce(whole);
            RowReduction reduction = new RowReduction(Mode.PEER, PLENTY);
            RowShares shares = RowShares.padded(rows, 4, 1);
            Tensor own = reduction.reduce(ring, partial, shares);
            Tensor again = reduction.reduce(ring, partial, shares);
            float[] expected = StandInGpu.download(whole.rows(shares.from(ring.rank()), shares.to(ring.rank()))).toFloats();
            boolean equal = Arrays.equals(StandInGpu.download(own).toFloats(), expected) && Arrays.equals(StandInGpu.download(again).toFloats(), expected);
            assertThat(reduction.report()).extracting(RowReduction.Report::peerCalls, RowReduction.Report::fallback).containsExactly(2L, Optional.empty());
            long before = gpu.usedBytes();
            reduction.close();
            ring.barrier();
            assertThat(gpu.usedBytes()).isLessThan(before);
            return equal;
        });
        assertThat(same).containsOnly(true);
    }

    @Test
    void aGpuThatIsFullUsesTheAllReduceAndSaysWhy() {
        assertThat(on(4, SMALL_CHUNK, 8L << 20, (ring, gpu) -> {
            RowReduction reduction = new RowReduction(Mode.PEER, PLENTY);
            reduction.reduce(ring, gpu.upload(values(ring.rank(), 1024, 1024)), RowShares.padded(1024, 4, 1));
            return reduction.report().fallback().orElse("");
        })).allSatisfy(reason -> assertThat(reason).startsWith("insufficient free memory for residual communication setup"));
    }

    @Test
    void tensorsOfAnotherPlaceAreRefused() {
        assertThatThrownBy(() -> on(2, SMALL_CHUNK, PLENTY, (ring, gpu) -> {
            ring.allReduce(values(ring.rank(), 2, 2));
            return 0;
        })).isInstanceOf(IllegalArgumentException.class).hasMessageContaining("expected a contiguous tensor on cuda:0");
        assertThatThrownBy(() -> on(2, SMALL_CHUNK, PLENTY, (ring, gpu) -> {
            ring.allReduce(gpu.upload(values(ring.rank(), 2 + ring.rank(), 2)));
            return 0;
        })).isInstanceOf(IllegalArgumentException.class).hasMessageContaining("expected one shape and dtype");
        assertThatThrownBy(() -> on(9, SMALL_CHUNK, PLENTY, (ring, gpu) -> 0)).isInstanceOf(IllegalArgumentException.class).hasMessageContaining("at most 8");
    }

    /** A rank that fails in the middle ends the others, wherever they are. */
    @Test
    void theFirstFailureEndsAllRanks() {
        assertThatThrownBy(() -> on(4, SMALL_CHUNK, PLENTY, (ring, gpu) -> {
            Tensor mine = gpu.upload(values(ring.rank(), 4, 5));
            ring.allReduce(mine);
            if (ring.rank() == 2) {
                throw new UnsupportedOperationException("rank 2 broke");
            }
            ring.allReduce(mine);
            return 0;
        })).isInstanceOf(UnsupportedOperationException.class).hasMessage("rank 2 broke");
    }
}
