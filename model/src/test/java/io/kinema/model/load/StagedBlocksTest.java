package io.kinema.model.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kinema.compute.Backend;
import io.kinema.compute.Tensor;
import io.kinema.compute.Workspace;
import io.kinema.compute.cpu.CpuBackend;
import io.kinema.compute.reference.ReferenceBackend;
import io.kinema.model.load.Parameters.Rounding;
import io.kinema.weights.BadWeightsException;
import io.kinema.weights.DType;
import io.kinema.weights.MemoryTensors;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiFunction;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class StagedBlocksTest {
    private static final int BLOCKS = 5;
    private static final int VALUES = 1000;
    private static final long BYTES = 4032;

    private MemoryTensors source;
    private Backend cpu;
    private Workspace owner;

    @BeforeEach
    void open() {
        MemoryTensors.Builder tensors = MemoryTensors.builder("test");
        for (int i = 0; i < BLOCKS; i++) {
            float[] values = new float[VALUES];
            java.util.Arrays.fill(values, i + 1);
            tensors.rounded(i + ".bias", DType.BF16, values, VALUES);
        }
        source = tensors.build();
        cpu = CpuBackend.open(2);
        owner = cpu.workspace("test");
    }

    @AfterEach
    void close() {
        owner.close();
        cpu.close();
        source.close();
    }

    private Parameters reader(Backend backend) {
        return new Parameters(backend, source, owner, "", Rounding.AS_STORED);
    }

    private static Tensor read(Parameters p, int block) {
        return p.f32(block + ".bias", VALUES);
    }

    private BlockStore<Tensor> store(Backend backend, int resident, BiFunction<Parameters, Integer, Tensor> load) {
        return BlockStore.of(new WeightPlacement(WeightResidency.LAYER, resident), backend, BLOCKS, reader(backend), load);
    }

    private static void walk(BlockStore<Tensor> store) {
        for (int i = 0; i < store.count(); i++) {
            try (BlockStore.Lease<Tensor> lease = store.acquire(i)) {
                assertThat(lease.weights().get(7)).as("block " + i).isEqualTo(i + 1);
                assertThat(lease.weights().get(VALUES - 1)).isEqualTo(i + 1);
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"0, 10", "1, 8", "2, 6", "3, 2", "4, 1", "5, 0", "9, 0"})
    void whateverStaysEveryBlockIsThere(int resident, int staged) {
        for (Backend backend : List.of(cpu, new ReferenceBackend())) {
            try (BlockStore<Tensor> store = store(backend, resident, StagedBlocksTest::read)) {
                walk(store);
                walk(store);
                StagingReport report = store.report();
                assertThat(report.residentBlocks()).isEqualTo(Math.min(resident, BLOCKS));
                if (backend == cpu) {
                    // Two staged blocks keep to the two rooms; a third makes all of them move on.
                    assertThat(report.stagedBlocks()).isEqualTo(staged);
                    assertThat(report.stagedBytes()).isEqualTo(staged * BYTES);
                }
                assertThat(store.staysPut()).isEqualTo(resident >= BLOCKS);
            }
        }
    }

    @Test
    void residentBlocksLieEvenlyAmongTheOthers() {
        assertThat(IntStream.range(0, 50).filter(i -> new WeightPlacement(WeightResidency.LAYER, 10).stays(i, 50)).boxed().toList())
                .containsExactly(4, 9, 14, 19, 24, 29, 34, 39, 44, 49);
        assertThat(IntStream.range(0, 7).filter(i -> WeightPlacement.RESIDENT.stays(i, 7)).count()).isEqualTo(7);
        assertThatThrownBy(() -> new WeightPlacement(WeightResidency.LAYER, -1)).hasMessageContaining("-1");
    }

    @Test
    void theNextBlockIsBroughtWhileOneIsLent() throws InterruptedException {
        CountDownLatch second = new CountDownLatch(2);
        try (BlockStore<Tensor> store = store(cpu, 0, (p, i) -> {
            second.countDown();
            return read(p, i);
        }); BlockStore.Lease<Tensor> first = store.acquire(0)) {
            assertThat(second.await(5, TimeUnit.MINUTES)).as("block 1 is read before block 0 is given back").isTrue();
            assertThat(first.weights().get(0)).isEqualTo(1);
        }
    }

    @Test
    void twoBlocksOfMemoryAreEnough() {
        Set<Workspace> memories = Collections.synchronizedSet(Collections.newSetFromMap(new IdentityHashMap<>()));
        try (BlockStore<Tensor> store = store(cpu, 0, (p, i) -> {
            memories.add(p.owner());
            return read(p, i);
        })) {
            walk(store);
            walk(store);
        }
        assertThat(memories).hasSize(2).allSatisfy(memory -> assertThat(memory.peakBytes()).isEqualTo(BYTES));
    }

    @Test
    void aFailingLoadIsReportedWhereItIsNeededAndForgotten() {
        AtomicInteger failures = new AtomicInteger(1);
        List<Workspace> memories = Collections.synchronizedList(new ArrayList<>());
        try (BlockStore<Tensor> store = store(cpu, 0, (p, i) -> {
            memories.add(p.owner());
            Tensor block = read(p, i);
            if (i == 2 && failures.getAndDecrement() > 0) {
                throw new BadWeightsException("block 2 is damaged");
            }
            return block;
        })) {
            for (int i = 0; i < 2; i++) {
                store.acquire(i).close();
            }
            assertThatThrownBy(() -> store.acquire(2)).isInstanceOf(BadWeightsException.class).hasMessage("block 2 is damaged");
            assertThat(memories).as("all memory went back with the failure").allSatisfy(memory -> assertThat(memory.bytes()).isZero());
            walk(store);
        }
        assertThat(memories).allSatisfy(memory -> assertThat(memory.bytes()).isZero());
    }

    @Test
    void aFailureOfWhoeverComputesLeavesTheStoreFit() {
        try (BlockStore<Tensor> store = store(cpu, 1, StagedBlocksTest::read)) {
            assertThatThrownBy(() -> {
                try (BlockStore.Lease<Tensor> _ = store.acquire(0); BlockStore.Lease<Tensor> _ = store.acquire(1)) {
                    throw new IllegalArgumentException("not finite");
                }
            }).hasMessage("not finite");
            walk(store);
        }
    }

    @Test
    void moreBlocksAtOnceThanThereIsRoomForAreRefused() {
        try (BlockStore<Tensor> store = store(cpu, 0, StagedBlocksTest::read); BlockStore.Lease<Tensor> a = store.acquire(0);
             BlockStore.Lease<Tensor> b = store.acquire(1)) {
            assertThatThrownBy(() -> store.acquire(2)).isInstanceOf(IllegalStateException.class).hasMessageContaining("block 2").hasMessageContaining("2 are lent");
            assertThat(a.weights().get(0) + b.weights().get(0)).isEqualTo(3);
        }
    }

    @Test
    void blocksOfARareWalkLeaveNothingBehind() {
        Set<Workspace> memories = Collections.synchronizedSet(Collections.newSetFromMap(new IdentityHashMap<>()));
        try (BlockStore<Tensor> store = BlockStore.walkedOnce(cpu, BLOCKS, reader(cpu), (p, i) -> {
            memories.add(p.owner());
            return read(p, i);
        })) {
            walk(store);
            assertThat(memories).hasSize(2).allSatisfy(memory -> assertThat(memory.bytes()).isZero());
            walk(store);
            assertThat(memories).as("another walk takes memory of its own").hasSize(4);
        }
    }

    @Test
    void valuesAreLookedAtOnce() {
        List<Boolean> known = Collections.synchronizedList(new ArrayList<>());
        try (BlockStore<Tensor> store = store(cpu, 0, (p, i) -> {
            known.add(p.known());
            return read(p, i);
        })) {
            walk(store);
            walk(store);
        }
        assertThat(known.subList(0, BLOCKS)).containsOnly(false);
        assertThat(known.subList(BLOCKS, known.size())).startsWith(true, true, true, true).doesNotContain(false);
    }

    @Test
    void afterCloseItIsAnError() {
        BlockStore<Tensor> store = store(cpu, 0, StagedBlocksTest::read);
        store.acquire(3).close();
        store.close();
        store.close();
        assertThatThrownBy(() -> store.acquire(0)).isInstanceOf(IllegalStateException.class).hasMessageContaining("after close");
    }
}
