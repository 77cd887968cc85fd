package io.kinema.cuda.collective;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kinema.compute.Tensor;
import io.kinema.compute.collective.Communicator;
import io.kinema.compute.collective.RankGroup;
import io.kinema.cuda.driver.StandInDriver;
import io.kinema.cuda.nccl.StandInNccl;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Two ranks with a GPU each, over a driver and an NCCL that are played by Java. */
class NcclRingTest {
    private static final Duration TIMEOUT = Duration.ofMinutes(10);
    private static final long MEMORY = 1L << 28;

    private final StandInNccl library = new StandInNccl();
    private final StandInDriver driver = StandInGpu.driver();
    private final RankGroup group = RankGroup.open(2, TIMEOUT);
    private final List<StandInGpu> gpus = group.each(host -> new StandInGpu(driver, host.rank(), MEMORY));
    private final List<NcclRing> rings = group.each(host -> new NcclRing(host, gpus.get(host.rank()).gpu(), library.library()));

    @FunctionalInterface
    private interface Work<T> {
        T run(Communicator ring, StandInGpu gpu);
    }

    private <T> List<T> each(Work<T> work) {
        return group.each(host -> work.run(rings.get(host.rank()), gpus.get(host.rank())));
    }

    @AfterEach
    void close() {
        group.each(host -> {
            rings.get(host.rank()).close();
            rings.get(host.rank()).close();
            gpus.get(host.rank()).close();
            return 0;
        });
        group.close();
        assertThat(library.calls().stream().filter(call -> call.startsWith("destroy"))).containsExactly("destroy 0", "destroy 1");
    }

    private static float[] sum(Communicator ring, StandInGpu gpu) {
        Tensor mine = gpu.upload(Tensor.ofFloats(new float[] {1 + ring.rank(), 10 * ring.rank()}, 2));
        ring.allReduce(mine);
        return StandInGpu.download(mine).toFloats();
    }

    @Test
    void sumsAndGathersOnTheFirstRanksThread() {
        assertThat(each(NcclRingTest::sum)).allSatisfy(both -> assertThat(both).containsExactly(3, 10));
        assertThat(each((ring, gpu) -> {
            Tensor whole = gpu.upload(Tensor.ofInts(new int[2], 2));
            ring.allGather(gpu.upload(Tensor.ofInts(new int[] {7 + ring.rank()}, 1)), whole);
            Tensor host = StandInGpu.download(whole);
            return List.of(host.get(0), host.get(1));
        })).containsOnly(List.of(7.0, 8.0));
        assertThat(library.calls()).containsExactly("init [0, 1]", "group of 2 on thread kinema-rank-0", "group of 2 on thread kinema-rank-0");
    }

    /** The GPUs may be waiting for each other when a rank fails, so their communicators are aborted at once; the next work joins them anew. */
    @Test
    void aFailureAbortsTheCommunicatorsOfAllRanksAndTheNextWorkJoinsThemAgain() {
        for (int failing = 0; failing < 2; failing++) {
            int rank = failing;
            assertThatThrownBy(() -> each((ring, gpu) -> {
                sum(ring, gpu);
                if (ring.rank() == rank) {
                    throw new UnsupportedOperationException("rank " + rank + " broke");
                }
                return sum(ring, gpu);
            })).isInstanceOf(UnsupportedOperationException.class).hasMessage("rank " + rank + " broke");
            assertThat(library.calls().stream().filter(call -> call.startsWith("abort"))).hasSize(2 * (failing + 1));
            assertThat(each(NcclRingTest::sum)).allSatisfy(both -> assertThat(both).containsExactly(3, 10));
            assertThat(library.calls().stream().filter(call -> call.startsWith("init"))).hasSize(2 + failing);
        }
    }

    @Test
    void ncclsRefusalIsTheFirstFailure() {
        library.refuse(1);
        assertThatThrownBy(() -> each(NcclRingTest::sum)).hasMessageContaining("ncclAllReduce failed: ncclUnhandledCudaError (1)");
        library.refuse(0);
        assertThat(each(NcclRingTest::sum)).allSatisfy(both -> assertThat(both).containsExactly(3, 10));
    }
}
