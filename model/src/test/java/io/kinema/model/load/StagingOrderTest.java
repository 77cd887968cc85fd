package io.kinema.model.load;

import static org.assertj.core.api.Assertions.assertThat;

import io.kinema.compute.Backend;
import io.kinema.compute.StagingLoader;
import io.kinema.compute.Tensor;
import io.kinema.compute.TimeMark;
import io.kinema.compute.Workspace;
import io.kinema.compute.reference.ReferenceBackend;
import io.kinema.model.load.Parameters.Rounding;
import io.kinema.weights.DType;
import io.kinema.weights.MemoryTensors;
import io.kinema.weights.StoredTensor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** On a device with two streams, what orders them is the fences alone: which ones are set, and when. */
class StagingOrderTest {
    private static final int BLOCKS = 4;

    /** A loader whose every step is written down; fences are numbered. */
    private static final class Written implements StagingLoader {
        private final Backend host;
        private final List<String> steps = Collections.synchronizedList(new ArrayList<>());
        private final AtomicInteger open = new AtomicInteger();
        private final AtomicInteger number = new AtomicInteger();

        private record Numbered(String name, AtomicInteger open) implements Fence {
            @Override
            public void close() {
                open.decrementAndGet();
            }
        }

        Written(Backend host) {
            this.host = host;
        }

        private Fence fence(String kind) {
            open.incrementAndGet();
            Numbered fence = new Numbered(kind + number.getAndIncrement(), open);
            steps.add("set " + fence.name());
            return fence;
        }

        @Override
        public Workspace workspace(String owner) {
            return host.workspace(owner);
        }

        @Override
        public Tensor load(StoredTensor stored, Workspace owner) {
            return host.load(stored, owner);
        }

        @Override
        public void copy(Tensor src, Tensor dst) {
            host.copy(src, dst);
        }

        @Override
        public boolean beside() {
            return true;
        }

        @Override
        public Fence loaded() {
            return fence("loaded");
        }

        @Override
        public Fence computed() {
            return fence("computed");
        }

        @Override
        public void waitFor(Fence fence) {
            steps.add("load after " + (fence instanceof Numbered n ? n.name() : "nothing"));
        }

        @Override
        public void holdBackend(Fence fence) {
            steps.add("compute after " + ((Numbered) fence).name());
        }

        @Override
        public TimeMark mark() {
            return TimeMark.host();
        }

        @Override
        public void finish() {
            steps.add("finish");
        }

        @Override
        public void close() {
            steps.add("close");
        }
    }

    @Test
    void aRoomIsWrittenAfterItsBlockWasComputedAndReadAfterItIsWhole() {
        try (ReferenceBackend host = new ReferenceBackend(); Workspace owner = host.workspace("test"); MemoryTensors source = source()) {
            Written loader = new Written(host);
            Backend backend = with(host, loader);
            try (BlockStore<Tensor> store = BlockStore.of(WeightPlacement.of(WeightResidency.LAYER), backend, BLOCKS,
                    new Parameters(backend, source, owner, "", Rounding.AS_STORED), (p, i) -> {
                        loader.steps.add("load " + i);
                        return p.f32(i + ".bias", 2);
                    })) {
                for (int i = 0; i < BLOCKS; i++) {
                    try (BlockStore.Lease<Tensor> lease = store.acquire(i)) {
                        loader.steps.add("compute " + i);
                        assertThat(lease.weights().get(1)).isEqualTo(i);
                    }
                }
            }
            for (int i = 0; i < BLOCKS; i++) {
                int load = loader.steps.indexOf("load " + i);
                String whole = between(loader.steps, load, "set loaded");
                assertThat(loader.steps.indexOf("compute after " + whole)).as("block " + i + " is computed after it is whole")
                        .isBetween(loader.steps.indexOf("set " + whole), loader.steps.indexOf("compute " + i));
                String before = loader.steps.subList(0, load).stream().filter(s -> s.startsWith("load after ")).reduce((_, b) -> b).orElseThrow();
                if (i < 2) {
                    assertThat(before).as("the first block in a room waits for none").isEqualTo("load after nothing");
                } else {
                    String computed = between(loader.steps, loader.steps.indexOf("compute " + (i - 2)), "set computed");
                    assertThat(before).as("block " + i + " is written where block " + (i - 2) + " was").isEqualTo("load after " + computed);
                }
            }
            assertThat(loader.open.get()).as("fences left open").isZero();
            assertThat(loader.steps).as("nobody waits for the device").doesNotContain("finish").endsWith("close");
        }
    }

    /** The name in the first entry that begins with {@code start}, after {@code from}. */
    private static String between(List<String> steps, int from, String start) {
        return steps.subList(from, steps.size()).stream().filter(s -> s.startsWith(start)).findFirst().orElseThrow().substring("set ".length());
    }

    private static MemoryTensors source() {
        MemoryTensors.Builder tensors = MemoryTensors.builder("test");
        for (int i = 0; i < BLOCKS; i++) {
            tensors.rounded(i + ".bias", DType.BF16, new float[] {-1, i}, 2);
        }
        return tensors.build();
    }

    private static Backend with(Backend host, StagingLoader loader) {
        return (Backend) Proxy.newProxyInstance(StagingOrderTest.class.getClassLoader(), new Class<?>[] {Backend.class}, (_, method, arguments) -> {
            if (method.getName().equals("stagingLoader")) {
                return Optional.of(loader);
            }
            try {
                return method.invoke(host, arguments);
            } catch (InvocationTargetException e) {
                throw e.getCause();
            }
        });
    }
}
