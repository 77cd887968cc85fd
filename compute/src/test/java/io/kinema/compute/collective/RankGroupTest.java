package io.kinema.compute.collective;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kinema.compute.Tensor;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RankGroupTest {
    private static final Duration LONG = Duration.ofMinutes(10);

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4})
    void runsEveryRankOnItsOwnThread(int size) {
        try (RankGroup group = RankGroup.open(size, LONG)) {
            List<String> first = group.each(rank -> rank.rank() + "/" + rank.size() + " " + Thread.currentThread().getName());
            assertThat(first).isEqualTo(IntStream.range(0, size).mapToObj(rank -> rank + "/" + size + " kinema-rank-" + rank).toList());
            assertThat(group.each(rank -> Thread.currentThread())).isEqualTo(group.each(rank -> Thread.currentThread()));
        }
    }

    @Test
    void gathersInTheOrderOfRanks() {
        try (RankGroup group = RankGroup.open(3, LONG)) {
            for (float[] whole : group.each(rank -> {
                Tensor all = Tensor.ofFloats(new float[6], 3, 2);
                rank.allGather(Tensor.ofFloats(new float[] {rank.rank(), 10 + rank.rank()}, 1, 2), all);
                return all.toFloats();
            })) {
                assertThat(whole).containsExactly(0, 10, 1, 11, 2, 12);
            }
        }
    }

    /** Nobody waits for the others to have read what was brought, and yet nobody sees the next round's. */
    @Test
    void everyExchangeHasWhatWasBroughtToIt() {
        try (RankGroup group = RankGroup.open(4, LONG)) {
            for (int failure = 0; failure < 2; failure++) {
                group.each(rank -> {
                    for (int round = 0; round < 500; round++) {
                        int here = round;
                        assertThat(rank.exchange(10 * here + rank.rank())).isEqualTo(IntStream.range(0, 4).mapToObj(other -> 10 * here + other).toList());
                        assertThat(rank.agree(rank.rank() != here % 5)).isEqualTo(here % 5 == 4);
                    }
                    return 0;
                });
                assertThatThrownBy(() -> group.each(rank -> {
                    rank.exchange(rank.rank() == 1 ? 0 : 1);
                    throw new IllegalStateException("after an odd number of exchanges");
                })).isInstanceOf(IllegalStateException.class);
            }
        }
    }

    @Test
    void agreesOnlyWhenAllDo() {
        try (RankGroup group = RankGroup.open(4, LONG)) {
            assertThat(group.each(rank -> rank.agree(true))).containsOnly(true);
            assertThat(group.each(rank -> rank.agree(rank.rank() != 2))).containsOnly(false);
        }
    }

    /** Wherever the others are, waiting already or still on their way, one rank's failure ends them all, and it is the one that is told. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 3})
    void theFirstFailureEndsAllRanks(int failing) {
        try (RankGroup group = RankGroup.open(4, LONG)) {
            CountDownLatch failed = new CountDownLatch(1);
            assertThatThrownBy(() -> group.each(rank -> {
                if (rank.rank() == failing) {
                    failed.countDown();
                    throw new CancellationException("cancelled on rank " + failing);
                }
                if (rank.rank() % 2 == 0) {
                    awaitQuietly(failed);
                }
                rank.allReduce(Tensor.ofFloats(new float[] {1}, 1));
                return rank.rank();
            })).isInstanceOf(CancellationException.class).hasMessage("cancelled on rank " + failing);
            assertThat(group.each(rank -> rank.agree(true))).as("the group goes on").containsOnly(true);
        }
    }

    @Test
    void ranksThatDoNotComeAreCountedAndNobodyWaitsForEver() {
        try (RankGroup group = RankGroup.open(3, Duration.ofMillis(200))) {
            assertThatThrownBy(() -> group.each(rank -> {
                if (rank.rank() == 1) {
                    rank.barrier();
                }
                return 0;
            })).isInstanceOf(RankTimeoutException.class).hasMessageContaining("barrier was reached by 1 of 3 ranks within 0.2 s");
        }
    }

    @Test
    void ranksThatDisagreeOnAShapeAreRefused() {
        try (RankGroup group = RankGroup.open(2, LONG)) {
            assertThatThrownBy(() -> group.each(rank -> {
                rank.allReduce(Tensor.ofFloats(new float[2 + rank.rank()], 2 + rank.rank()));
                return 0;
            })).isInstanceOf(IllegalArgumentException.class).hasMessageContaining("expected one shape and dtype");
        }
    }

    /** What waits outside of the group, for a device, is told of the first failure of each round, once. */
    @Test
    void watchersRunOnceForEachFailureUntilTheyAreTakenBack() {
        try (RankGroup group = RankGroup.open(3, LONG)) {
            AtomicInteger stops = new AtomicInteger();
            Communicator.Watch watch = group.each(rank -> rank.rank() == 0 ? rank.whenFailed(stops::incrementAndGet) : (Communicator.Watch) () -> { }).getFirst();
            for (int round = 1; round <= 2; round++) {
                assertThatThrownBy(() -> group.each(rank -> {
                    throw new IllegalStateException("rank " + rank.rank());
                })).isInstanceOf(IllegalStateException.class);
                assertThat(stops).hasValue(round);
            }
            watch.close();
            watch.close();
            assertThatThrownBy(() -> group.each(rank -> rank.agree(1 / rank.rank() > 0))).isInstanceOf(ArithmeticException.class);
            assertThat(stops).hasValue(2);
        }
    }

    @Test
    void aRankThatDoesNotComeIsAFailureForWatchersToo() {
        try (RankGroup group = RankGroup.open(2, Duration.ofMillis(100))) {
            AtomicInteger stops = new AtomicInteger();
            assertThatThrownBy(() -> group.each(rank -> {
                if (rank.rank() == 0) {
                    rank.whenFailed(stops::incrementAndGet);
                    rank.barrier();
                }
                return 0;
            })).isInstanceOf(RankTimeoutException.class);
            assertThat(stops).hasValue(1);
        }
    }

    @Test
    void refusesWorkAfterClose() {
        RankGroup group = RankGroup.open(2, LONG);
        group.close();
        group.close();
        assertThatThrownBy(() -> group.each(Communicator::rank)).isInstanceOf(IllegalStateException.class);
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
