package io.kinema.compute.event;

import static org.assertj.core.api.Assertions.assertThat;

import io.kinema.compute.Backend;
import io.kinema.compute.Device;
import io.kinema.compute.HostWorkspace;
import io.kinema.compute.MoveOps;
import io.kinema.compute.Tensor;
import io.kinema.compute.Workspace;
import io.kinema.compute.check.CheckedBackend;
import io.kinema.compute.collective.RankGroup;
import io.kinema.compute.collective.RowReduction;
import io.kinema.compute.collective.RowShares;
import io.kinema.compute.cpu.CpuBackend;
import io.kinema.weights.DType;
import io.kinema.weights.Shape;
import io.kinema.weights.StoredTensor;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Flight Recorder sees what moves between devices, and only that. */
class MovingDataTest {
    private static final Device CARD = new Device(Device.Kind.CUDA, 1);

    @TempDir
    private Path folder;

    @Test
    void copiesBetweenDevicesAreTransfers() throws IOException {
        AtomicInteger copies = new AtomicInteger();
        List<RecordedEvent> events = record(() -> {
            try (Backend card = card(copies); Arena arena = Arena.ofConfined()) {
                Tensor there = Tensor.of(DType.F32, Shape.of(3, 5), arena.allocate(60, 64), CARD);
                card.copy(Tensor.ofFloats(new float[15], 3, 5), there);
                card.copy(there, Tensor.of(DType.F32, Shape.of(3, 5), arena.allocate(60, 64), CARD));
            }
        });
        assertThat(copies).hasValue(2);
        assertThat(events).singleElement().satisfies(event -> {
            assertThat(event.getString("from")).isEqualTo("cpu");
            assertThat(event.getString("to")).isEqualTo("cuda:1");
            assertThat(event.getLong("bytes")).isEqualTo(60);
        });
    }

    @Test
    void reductionsByPeersSayHowMuch() throws IOException {
        List<RecordedEvent> events = record(() -> {
            try (RankGroup group = RankGroup.open(4, Duration.ofMinutes(10))) {
                group.each(rank -> {
                    RowReduction reduction = new RowReduction(RowReduction.Mode.PEER, 1 << 20);
                    Tensor mine = reduction.reduce(rank, Tensor.ofFloats(new float[12], 4, 3), RowShares.padded(4, 4, 1));
                    reduction.close();
                    return mine;
                });
            }
        });
        assertThat(events).hasSize(4).allSatisfy(event -> {
            assertThat(event.getString("operation")).isEqualTo("reduce-scatter");
            assertThat(event.getString("implementation")).isEqualTo("peer");
            assertThat(event.getInt("ranks")).isEqualTo(4);
            assertThat(event.getLong("bytes")).isEqualTo(48);
        });
        assertThat(events).extracting(event -> event.getInt("rank")).containsExactlyInAnyOrder(0, 1, 2, 3);
    }

    @Test
    void nothingMovesOnTheHost() throws IOException {
        assertThat(record(() -> {
            try (Backend cpu = CpuBackend.open(1); Workspace memory = cpu.workspace("test")) {
                cpu.copy(Tensor.ofFloats(new float[4], 2, 2), memory.f32(2, 2));
            }
        })).isEmpty();
    }

    private List<RecordedEvent> record(Runnable work) throws IOException {
        Path file = folder.resolve("moves.jfr");
        try (Recording recording = new Recording()) {
            recording.enable(TransferEvent.class).withoutThreshold();
            recording.enable(CollectiveEvent.class).withoutThreshold();
            recording.start();
            work.run();
            recording.stop();
            recording.dump(file);
        }
        return RecordingFile.readAllEvents(file);
    }

    /** A device whose kernels do nothing but count copies. */
    private static Backend card(AtomicInteger copies) {
        MoveOps moves = (MoveOps) Proxy.newProxyInstance(MoveOps.class.getClassLoader(), new Class<?>[] {MoveOps.class},
                (proxy, method, arguments) -> method.getName().equals("copy") ? copies.incrementAndGet() < 0 ? proxy : null : null);
        return new CheckedBackend(CARD, new CheckedBackend.Kernels(null, null, null, null, null, moves)) {
            @Override
            public String name() {
                return "card";
            }

            @Override
            public Workspace workspace(String owner) {
                return HostWorkspace.create(owner);
            }

            @Override
            public Tensor load(StoredTensor stored, Workspace owner) {
                return Tensor.of(stored.dtype(), stored.shape(), stored.data(), device());
            }

            @Override
            public void finish() {
                kernels();
            }
        };
    }
}
