package io.kinema.engine.prepared;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.kinema.compute.Backend;
import io.kinema.compute.DenseWeight;
import io.kinema.compute.Device;
import io.kinema.compute.MatrixLayout;
import io.kinema.compute.Workspace;
import io.kinema.compute.cpu.CpuBackend;
import io.kinema.engine.Cancellation;
import io.kinema.engine.CancelledException;
import io.kinema.engine.PreparedWeightsOptions;
import io.kinema.engine.PreparedWeightsOptions.Use;
import io.kinema.engine.Progress;
import io.kinema.engine.Stage;
import io.kinema.engine.pipeline.Clock;
import io.kinema.model.load.Parameters;
import io.kinema.model.load.Parameters.Rounding;
import io.kinema.model.load.ReusedTensors;
import io.kinema.weights.DType;
import io.kinema.weights.RandomTensors;
import io.kinema.weights.SafetensorsFile;
import io.kinema.weights.SafetensorsWriter;
import io.kinema.weights.Shape;
import io.kinema.weights.TensorSource;
import io.kinema.weights.prepared.CacheLimits;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What an engine does with prepared weights when things do not go well. */
class PreparedWeightsTest {
    private static final int TENSORS = 4;
    private static final long[] SIZES = {64, 96};

    @TempDir
    private Path temp;
    private final List<String> told = new ArrayList<>();
    private final Cancellation cancellation = new Cancellation();
    private final Clock clock = new Clock(event -> {
        if (event instanceof Progress.Message(String text)) {
            told.add(text);
        }
    }, cancellation);
    private Backend backend;
    private SafetensorsFile source;
    private int read;

    @BeforeEach
    void write() {
        backend = CpuBackend.open(1);
        List<RandomTensors.Entry> entries = Stream.iterate(0, i -> i + 1).limit(TENSORS)
                .map(i -> new RandomTensors.Entry("w" + i, DType.F32, Shape.of(SIZES))).toList();
        try (TensorSource values = RandomTensors.of("test", entries, 1)) {
            SafetensorsWriter.write(temp.resolve("model.safetensors"), values.names().stream().map(values::get).toList(), Map.of());
        }
        source = SafetensorsFile.open(temp.resolve("model.safetensors"));
    }

    @AfterEach
    void close() {
        source.close();
        backend.close();
    }

    private PreparedWeightsOptions inFolder(Use use) {
        return new PreparedWeightsOptions(use, Optional.of(temp.resolve("cache")));
    }

    private NetworkOpening network(Runnable beforeEach) {
        return new NetworkOpening("key", "network", temp.resolve("model.safetensors"), () -> source, Map.of("plan", "test"),
                new NetworkOpening.Form(Rounding.F16, MatrixLayout.ROW, false), 1, (on, from, _) -> {
                    try (Workspace memory = on.workspace("test")) {
                        Parameters p = new Parameters(on, from, memory, "", Rounding.F16);
                        for (int i = 0; i < TENSORS; i++) {
                            beforeEach.run();
                            p.matrix("w" + i, SIZES[0], SIZES[1]);
                            read++;
                        }
                    }
                    return () -> { };
                });
    }

    private static NetworkOpening withFiles(NetworkOpening network, Path files, TensorSource weights) {
        return new NetworkOpening(network.key(), network.label(), files, () -> weights, network.facts(), network.form(), network.ranks(), network.open());
    }

    private List<String> left() throws IOException {
        try (Stream<Path> files = Files.list(temp.resolve("cache"))) {
            return files.map(file -> file.getFileName().toString().replaceAll("-.*", "")).sorted().toList();
        }
    }

    @Test
    void areMadeOnceAndGivenToWhoAsksForTheirNetwork() {
        try (PreparedWeights first = new PreparedWeights(inFolder(Use.ON))) {
            first.prepare(List.of(network(() -> { })), backend, clock);
            first.prepare(List.of(network(() -> { })), backend, clock);
            assertThat(read).isEqualTo(TENSORS);
            assertThat(first.over("key", source)).isInstanceOf(ReusedTensors.class);
            assertThat(first.over("another", source)).isSameAs(source);
        }
        try (PreparedWeights second = new PreparedWeights(inFolder(Use.ON)); Workspace memory = backend.workspace("test")) {
            second.prepare(List.of(network(() -> { })), backend, clock);
            assertThat(read).isEqualTo(TENSORS);
            Parameters p = new Parameters(backend, second.over("key", source), memory, "", Rounding.F16);
            assertThat(((DenseWeight) p.matrix("w1", SIZES[0], SIZES[1])).values().dtype()).isEqualTo(DType.F16);
            assertThat(memory.peakBytes()).isZero();
            assertThat(second.outcomes()).containsEntry("network", "reused " + TENSORS * SIZES[0] * SIZES[1] * Short.BYTES + " bytes");
        }
    }

    @Test
    void aFullDiskIsSaidAndNothingIsLeft() throws IOException {
        try (PreparedWeights weights = new PreparedWeights(inFolder(Use.ON), new CacheLimits(2 * SIZES[0] * SIZES[1] * Short.BYTES, 0), Duration.ZERO)) {
            weights.prepare(List.of(network(() -> { })), backend, clock);
            assertThat(read).as("the third does not fit").isEqualTo(2);
            assertThat(weights.over("key", source)).isSameAs(source);
            assertThat(weights.outcomes()).containsEntry("network", "not kept");
        }
        assertThat(told.getLast()).startsWith("prepared weights of network are not kept: no room for ");
        assertThat(left()).containsExactly("locks");
    }

    @Test
    void anotherThatHoldsThemTooLongIsNotWaitedFor() {
        try (PreparedWeights weights = new PreparedWeights(inFolder(Use.ON)); PreparedWeights other = new PreparedWeights(inFolder(Use.ON), CacheLimits.DEFAULTS, Duration.ZERO)) {
            weights.prepare(List.of(network(() -> other.prepare(List.of(network(() -> { })), backend, clock))), backend, clock);
            assertThat(other.outcomes()).containsEntry("network", "not kept");
            assertThat(told).anySatisfy(line -> assertThat(line).startsWith("prepared weights of network are not kept: another process has held "));
            assertThat(weights.over("key", source)).isInstanceOf(ReusedTensors.class);
        }
    }

    @Test
    void whatIsCancelledBetweenTensorsLeavesNothing() throws IOException {
        try (PreparedWeights weights = new PreparedWeights(inFolder(Use.ON))) {
            NetworkOpening cancelled = network(() -> {
                if (read == 2) {
                    cancellation.cancel();
                }
            });
            assertThatExceptionOfType(CancelledException.class).isThrownBy(() -> weights.prepare(List.of(cancelled), backend, clock))
                    .withMessageContaining(Stage.PREPARING_WEIGHTS.label());
            assertThat(read).isEqualTo(2);
        }
        assertThat(left()).containsExactly("locks");
    }

    @Test
    void aDevicesWeightsArePreparedOnTheHost() {
        Backend device = (Backend) Proxy.newProxyInstance(Backend.class.getClassLoader(), new Class<?>[] {Backend.class}, (_, method, _) -> switch (method.getName()) {
            case "device" -> new Device(Device.Kind.CUDA, 0);
            default -> throw new AssertionError("a device's backend was asked for " + method.getName());
        });
        try (PreparedWeights weights = new PreparedWeights(inFolder(Use.ON))) {
            weights.prepare(List.of(network(() -> { })), device, clock);
            assertThat(weights.outcomes().get("network")).startsWith("prepared ");
        }
    }

    /** Terabytes by the file's header, none on the disk. */
    @Test
    void autoLeavesADiskAloneThatHasTooLittleRoom() throws IOException {
        Path huge = temp.resolve("huge.safetensors");
        long bytes = 4L << 40;
        assumeTrue(Files.getFileStore(temp).getUsableSpace() < bytes, "this disk has room for everything");
        long each = 1L << 32;
        String header = LongStream.range(0, bytes / each).mapToObj(i -> "\"w%d\":{\"dtype\":\"F32\",\"shape\":[32768,32768],\"data_offsets\":[%d,%d]}"
                .formatted(i, i * each, (i + 1) * each)).collect(Collectors.joining(",", "{", "}"));
        byte[] json = header.getBytes(StandardCharsets.UTF_8);
        try (RandomAccessFile file = new RandomAccessFile(huge.toFile(), "rw")) {
            file.write(ByteBuffer.allocate(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN).putLong(json.length).array());
            file.write(json);
            file.setLength(Long.BYTES + json.length + bytes);
        }
        try (SafetensorsFile sparse = SafetensorsFile.open(huge); PreparedWeights weights = new PreparedWeights(inFolder(Use.AUTO))) {
            weights.prepare(List.of(network(() -> { })), backend, clock);
            assertThat(temp.resolve("cache")).as("too small to be worth it").doesNotExist();
            weights.prepare(List.of(withFiles(network(() -> { }), huge, sparse)), backend, clock);
            assertThat(told).singleElement().asString().startsWith("prepared weights of network are not kept: they may take 2199.0 GB and ").contains("--prepared-weights on");
            assertThat(weights.over("key", sparse)).isSameAs(sparse);
        }
        assertThat(read).isZero();
        assertThat(left()).containsExactly("locks");
    }
}
