package io.kinema.cuda.memory;

import static io.kinema.cuda.memory.DevicePool.GRAIN;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kinema.compute.Device;
import io.kinema.compute.Tensor;
import io.kinema.compute.Workspace;
import io.kinema.weights.DType;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

class DevicePoolTest {
    private static final long EVERYTHING = Long.MAX_VALUE;

    /** A device of some size that notices wrong frees. */
    private static final class Fake implements DeviceAllocator {
        private final long capacity;
        private final Map<Long, Long> live = new HashMap<>();
        private long next = 1L << 40;

        Fake(long capacity) {
            this.capacity = capacity;
        }

        long held() {
            return live.values().stream().mapToLong(b -> b).sum();
        }

        @Override
        public long allocate(long bytes) {
            if (held() + bytes > capacity) {
                return 0;
            }
            live.put(next, bytes);
            next += bytes;
            return next - bytes;
        }

        @Override
        public void free(long address) {
            assertThat(live.remove(address)).as("block at %d", address).isNotNull();
        }
    }

    @Test
    void countsEveryByteThroughAnyHistory() {
        Fake device = new Fake(EVERYTHING);
        Random random = new Random(3);
        try (DevicePool pool = new DevicePool("cuda:0", device, EVERYTHING)) {
            List<DevicePool.Block> blocks = new ArrayList<>();
            long peak = 0;
            for (int i = 0; i < 2000; i++) {
                if (blocks.isEmpty() || random.nextInt(5) < 3) {
                    blocks.add(pool.take(1 + random.nextLong(40 * GRAIN), random.nextBoolean() ? "weights" : "scratch"));
                } else {
                    pool.give(blocks.remove(random.nextInt(blocks.size())));
                }
                peak = Math.max(peak, device.held());
                assertThat(pool.usedBytes()).isEqualTo(blocks.stream().mapToLong(DevicePool.Block::bytes).sum());
                assertThat(pool.usedBytes() + pool.cachedBytes()).isEqualTo(device.held());
                assertThat(pool.held().values().stream().mapToLong(b -> b).sum()).isEqualTo(pool.usedBytes());
            }
            assertThat(pool.peakBytes()).isEqualTo(peak);
            blocks.forEach(pool::give);
        }
        assertThat(device.held()).isZero();
    }

    @Test
    void aFreedBlockServesARequestOfItsSizeAndNotAMuchSmallerOne() {
        try (DevicePool pool = new DevicePool("cuda:0", new Fake(EVERYTHING), EVERYTHING)) {
            DevicePool.Block large = pool.take(100 * GRAIN, "a");
            pool.give(large);
            assertThat(pool.take(50 * GRAIN, "a").address()).isNotEqualTo(large.address());
            assertThat(pool.take(90 * GRAIN, "a").address()).isEqualTo(large.address());
            assertThat(pool.allocations()).isEqualTo(2);
        }
    }

    @Test
    void givesWhatLiesFreeBackBeforeItGivesUp() {
        Fake device = new Fake(100 * GRAIN);
        try (DevicePool pool = new DevicePool("cuda:0", device, EVERYTHING)) {
            pool.give(pool.take(60 * GRAIN, "early"));
            pool.take(20 * GRAIN, "kept");
            pool.take(70 * GRAIN, "late");
            assertThat(device.held()).isEqualTo(90 * GRAIN);
            assertThatThrownBy(() -> pool.take(20 * GRAIN, "too much")).isInstanceOf(DeviceMemoryException.class)
                    .hasMessageContaining("cuda:0").hasMessageContaining("too much asks for " + 20 * GRAIN).hasMessageContaining("late " + 70 * GRAIN);
        }
    }

    @Test
    void keepsTheUsersLimit() {
        try (DevicePool pool = new DevicePool("cuda:0", new Fake(EVERYTHING), 10 * GRAIN)) {
            pool.give(pool.take(6 * GRAIN, "a"));
            DevicePool.Block whole = pool.take(10 * GRAIN, "a");
            assertThat(pool.peakBytes()).isEqualTo(10 * GRAIN);
            assertThatThrownBy(() -> pool.take(1, "b")).isInstanceOf(DeviceMemoryException.class).hasMessageContaining("the limit of " + 10 * GRAIN);
            pool.give(whole);
        }
    }

    @Test
    void aWorkspaceHandsOutItsBlocksAsAStackAndGivesThemBackWhenClosed() {
        Fake device = new Fake(EVERYTHING);
        Device cuda = new Device(Device.Kind.CUDA, 0);
        try (DevicePool pool = new DevicePool("cuda:0", device, EVERYTHING)) {
            try (Workspace ws = new DeviceWorkspace("test", cuda, pool)) {
                long first;
                try (Workspace.Frame _ = ws.frame()) {
                    Tensor t = ws.allocate(DType.BF16, 3, 1000);
                    first = t.data().address();
                    assertThat(first % 256).isZero();
                    assertThat(t.device()).isEqualTo(cuda);
                    assertThatThrownBy(() -> t.get(0, 0)).isInstanceOf(IllegalStateException.class).hasMessageContaining("download it first");
                    ws.allocate(DType.F32, 5 * GRAIN);
                }
                assertThat(ws.bytes()).isZero();
                assertThat(ws.allocate(DType.F32, 10).data().address()).isEqualTo(first);
                assertThat(pool.held()).containsOnlyKeys("test");
            }
            assertThat(pool.usedBytes()).isZero();
        }
        assertThat(device.held()).isZero();
    }
}
