package io.kinema.model.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.kinema.compute.Backend;
import io.kinema.compute.DenseWeight;
import io.kinema.compute.MatrixLayout;
import io.kinema.compute.Tensor;
import io.kinema.compute.Workspace;
import io.kinema.compute.cpu.CpuBackend;
import io.kinema.model.load.Parameters.Rounding;
import io.kinema.weights.BadWeightsException;
import io.kinema.weights.DType;
import io.kinema.weights.MemoryTensors;
import io.kinema.weights.SafetensorsFile;
import io.kinema.weights.SafetensorsWriter;
import io.kinema.weights.StoredTensor;
import io.kinema.weights.TensorSource;
import io.kinema.weights.prepared.CacheLimits;
import io.kinema.weights.prepared.EntryWriter;
import io.kinema.weights.prepared.HeldEntry;
import io.kinema.weights.prepared.PreparedCache;
import io.kinema.weights.prepared.PreparedCache.Lookup;
import io.kinema.weights.prepared.PreparedEntry;
import io.kinema.weights.prepared.PreparedKey;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.SequencedMap;
import java.util.LinkedHashMap;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a reader gets is the same, bit by bit and stride by stride, from a checkpoint, while it is kept, and from what was kept. */
class PreparedTensorsTest {
    private static final List<DType> DTYPES = List.of(DType.F64, DType.F32, DType.F16, DType.BF16, DType.F8_E4M3, DType.F8_E5M2);
    private static final int ROWS = 256;
    private static final int COLUMNS = 192;

    @TempDir
    private Path temp;
    private Backend backend;
    private SafetensorsFile source;

    @BeforeEach
    void write() {
        backend = CpuBackend.open(2);
        MemoryTensors.Builder tensors = MemoryTensors.builder("test");
        for (DType dtype : DTYPES) {
            byte[] bytes = new byte[ROWS * COLUMNS * dtype.bytes()];
            Random random = new Random(dtype.ordinal());
            for (int i = 0; i < bytes.length; i++) {
                // The last byte has the sign and the top of the exponent: of magnitudes that every dtype holds.
                boolean top = i % dtype.bytes() == dtype.bytes() - 1;
                bytes[i] = (byte) (top ? (random.nextBoolean() ? 0x80 : 0) | top(dtype) | random.nextInt(4) : random.nextInt(256));
            }
            tensors.put("m." + dtype, dtype, java.lang.foreign.MemorySegment.ofArray(bytes), ROWS, COLUMNS);
        }
        try (TensorSource made = tensors.build()) {
            SafetensorsWriter.write(temp.resolve("model.safetensors"), made.names().stream().map(made::get).toList(), Map.of());
        }
        source = SafetensorsFile.open(temp.resolve("model.safetensors"));
    }

    private static int top(DType dtype) {
        return dtype == DType.F8_E4M3 || dtype == DType.F8_E5M2 || dtype == DType.F16 ? 0x30 : 0x3c;
    }

    @AfterEach
    void close() {
        source.close();
        backend.close();
    }

    private SequencedMap<String, Tensor> read(TensorSource from, Workspace owner, Rounding rounding, MatrixLayout layout) {
        Parameters p = new Parameters(backend, from, owner, "m.", rounding, layout);
        SequencedMap<String, Tensor> tensors = new LinkedHashMap<>();
        for (DType dtype : DTYPES) {
            tensors.put("kernel " + dtype, ((DenseWeight) p.kernelMatrix(dtype.name(), ROWS, COLUMNS)).values());
            tensors.put("f32 " + dtype, p.f32(dtype.name(), ROWS, COLUMNS));
            if (dtype.bytes() == 1) {
                continue;
            }
            tensors.put("matrix " + dtype, ((DenseWeight) p.matrix(dtype.name(), ROWS, COLUMNS)).values());
            List<Tensor> halves = p.stackedMatrices(dtype.name(), 2, ROWS / 2, COLUMNS).stream().map(w -> ((DenseWeight) w).values()).toList();
            tensors.put("upper half " + dtype, halves.getFirst());
            for (int rank = 0; rank < 4; rank++) {
                Share outputs = new Share(Share.Axis.OUTPUTS, rank, 4);
                Share inputs = new Share(Share.Axis.INPUTS, rank, 4);
                tensors.put("outputs " + rank + " " + dtype, ((DenseWeight) p.matrix(dtype.name(), ROWS, COLUMNS, outputs)).values());
                tensors.put("inputs " + rank + " " + dtype, ((DenseWeight) p.matrix(dtype.name(), ROWS, COLUMNS, inputs)).values());
            }
            tensors.put("lower half " + dtype, halves.getLast());
        }
        tensors.put("computed", p.computed("sum", () -> new float[] {1, 2, 3}, 3));
        return tensors;
    }

    private static void same(SequencedMap<String, Tensor> got, SequencedMap<String, Tensor> expected) {
        assertThat(got.keySet()).isEqualTo(expected.keySet());
        expected.forEach((name, tensor) -> {
            assertThat(got.get(name).toString()).as("dtype, shape and strides of %s", name).isEqualTo(tensor.toString());
            assertThat(bits(got.get(name))).as(name).isEqualTo(bits(tensor));
        });
    }

    /** All that lies between its first element and its last. */
    private static byte[] bits(Tensor tensor) {
        long last = (tensor.size(0) - 1) * tensor.stride(0) + (tensor.rank() > 1 ? (tensor.size(1) - 1) * tensor.stride(1) : 0);
        return tensor.data().asSlice(0, (last + 1) * tensor.dtype().bytes()).toArray(java.lang.foreign.ValueLayout.JAVA_BYTE);
    }

    @ParameterizedTest
    @CsvSource({"AS_STORED, ROW", "F16, ROW", "F16, COLUMN", "BF16, ROW"})
    void everyDtypeInEveryRoundingAndLayoutIsTheSame(Rounding rounding, MatrixLayout layout) throws IOException {
        try (Workspace owner = backend.workspace("expected")) {
            SequencedMap<String, Tensor> expected = read(source, owner, rounding, layout);
            keep(writer -> {
                try (KeptTensors kept = new KeptTensors(source, writer, backend, () -> { }); Workspace none = backend.workspace("kept")) {
                    same(read(kept, none, rounding, layout), expected);
                    assertThat(none.bytes()).as("small FP32 tensors alone are in the reader's memory").isLessThan(1 << 16);
                }
                assertThat(writer.tensors()).isPositive();
            });
            reuse(entry -> {
                try (Workspace none = backend.workspace("reused")) {
                    TensorSource reused = new ReusedTensors(source, entry);
                    same(read(reused, none, rounding, layout), expected);
                    assertThat(none.peakBytes()).isLessThan(1 << 16);
                    assertThat(reused.names()).isEqualTo(source.names());
                    assertThat(reused.origin()).isEqualTo(source.origin());
                }
            });
        }
    }

    @Test
    void whatIsReadAsItLiesIsNotKept() throws IOException {
        keep(writer -> {
            try (KeptTensors kept = new KeptTensors(source, writer, backend, () -> { }); Workspace owner = backend.workspace("test")) {
                Parameters p = new Parameters(backend, kept, owner, "m.", Rounding.AS_STORED);
                for (DType dtype : List.of(DType.F32, DType.F16, DType.BF16)) {
                    Tensor matrix = ((DenseWeight) p.matrix(dtype.name(), ROWS, COLUMNS)).values();
                    StoredTensor stored = source.get("m." + dtype);
                    assertThat(matrix.data().address()).as("a view of the checkpoint's own map").isEqualTo(stored.data().address());
                }
            }
            assertThat(writer.tensors()).isZero();
        });
    }

    /** What the plan cannot hold is refused with the words that it would be refused with otherwise, and nothing is kept of it. */
    @Test
    void aValueBeyondThePlanIsRefusedAsWithoutKeeping() {
        Path file = temp.resolve("wide.safetensors");
        try (TensorSource made = MemoryTensors.builder("test").floats("m.w", new float[] {1, 70000}, 1, 2).build()) {
            SafetensorsWriter.write(file, List.of(made.get("m.w")), Map.of());
        }
        try (SafetensorsFile wide = SafetensorsFile.open(file); Workspace owner = backend.workspace("test")) {
            List<String> messages = new ArrayList<>();
            assertThatExceptionOfType(BadWeightsException.class).isThrownBy(() -> new Parameters(backend, wide, owner, "m.", Rounding.F16).matrix("w", 1, 2))
                    .satisfies(e -> messages.add(e.getMessage()));
            keep(writer -> {
                try (KeptTensors kept = new KeptTensors(wide, writer, backend, () -> { })) {
                    assertThatExceptionOfType(BadWeightsException.class).isThrownBy(() -> new Parameters(backend, kept, owner, "m.", Rounding.F16).matrix("w", 1, 2))
                            .withMessage(messages.getFirst());
                }
                assertThat(writer.tensors()).isZero();
            });
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private PreparedCache cache() {
        return new PreparedCache(temp.resolve("cache"), CacheLimits.DEFAULTS);
    }

    private Lookup look() throws IOException {
        return cache().look(PreparedKey.of("test", Map.of(), List.of(temp.resolve("model.safetensors"))), Duration.ZERO, _ -> {
        });
    }

    private void keep(Consumer<EntryWriter> work) throws IOException {
        try (EntryWriter writer = ((Lookup.Missing) look()).writer()) {
            work.accept(writer);
            if (writer.tensors() > 0) {
                writer.publish().orElseThrow().close();
            }
        }
    }

    private void reuse(Consumer<PreparedEntry> work) throws IOException {
        try (HeldEntry held = ((Lookup.Found) look()).entry(); PreparedEntry entry = held.map()) {
            work.accept(entry);
        }
    }
}
