package io.kinema.model.adapter;

import io.kinema.compute.Backend;
import io.kinema.compute.DenseWeight;
import io.kinema.compute.Device;
import io.kinema.compute.Operand;
import io.kinema.compute.Tensor;
import io.kinema.compute.Workspace;
import io.kinema.compute.cpu.CpuBackend;
import io.kinema.model.load.Parameters;
import io.kinema.model.load.Parameters.Rounding;
import io.kinema.weights.BadWeightsException;
import io.kinema.weights.DType;
import io.kinema.weights.FloatMatrix;
import io.kinema.weights.Shape;
import io.kinema.weights.StoredMatrix;
import io.kinema.weights.StoredTensor;
import io.kinema.weights.TensorHeader;
import io.kinema.weights.TensorSource;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedSet;
import java.util.stream.Collectors;

/**
 * Owns the tensors of a checkpoint that an adapter changes, once somebody asked for them, and a backend to change them with, until it is
 * closed; all others are the base's own. It may be asked by any thread, also while a network computes: layers are staged by another. A changed tensor is {@code W + factor * B A + edit} in FP32 (one FMA per pair, then the edit's sum), rounded
 * once to the base's dtype, before any sharding or conversion. Closing twice is harmless; base and adapter must outlive it.
 */
public final class FusedTensors implements TensorSource {
    /** Rows of a matrix are fused in blocks of about this many values. */
    private static final long BLOCK = 1 << 22;

    private final Backend backend;
    private final TensorSource base;
    private final Map<String, List<LowRankPair>> pairs;
    private final Map<String, WeightEdit> edits;
    private final Arena arena = Arena.ofShared();
    private final Map<String, StoredTensor> fused = new HashMap<>();
    private boolean closed;

    private FusedTensors(TensorSource base, Adapter adapter) {
        this.backend = CpuBackend.open(Runtime.getRuntime().availableProcessors());
        this.base = base;
        this.pairs = adapter.pairs().stream().collect(Collectors.groupingBy(p -> p.target().module() + ".weight"));
        this.edits = adapter.edits().stream().collect(Collectors.toMap(WeightEdit::tensor, e -> e));
    }

    /** @param base original floating-point weights in the diffusers layout */
    public static FusedTensors of(TensorSource base, Adapter adapter) {
        return new FusedTensors(base, adapter);
    }

    @Override
    public SequencedSet<String> names() {
        return base.names();
    }

    @Override
    public Optional<StoredTensor> find(String name) {
        return base.find(name).map(this::changed);
    }

    @Override
    public StoredTensor get(String name) {
        return changed(base.get(name));
    }

    @Override
    public Optional<TensorHeader> header(String name) {
        return base.header(name);
    }

    @Override
    public Shape shape(String name) {
        return base.shape(name);
    }

    @Override
    public long runEnd(String name, long from, long to) {
        return base.runEnd(name, from, to);
    }

    @Override
    public StoredMatrix matrix(String name, long from, long to) {
        if (!pairs.containsKey(name) && !edits.containsKey(name)) {
            return base.matrix(name, from, to);
        }
        base.header(name).filter(h -> h.dtype().isEmpty()).ifPresent(h -> {
            throw quantised(h.file(), name, h.encoding());
        });
        return new FloatMatrix(rows(name, from, to));
    }

    @Override
    public String origin() {
        return base.origin();
    }

    private synchronized StoredTensor changed(StoredTensor stored) {
        if (closed) {
            throw new IllegalStateException(origin() + " with an adapter is closed; tensor " + stored.name() + " cannot be read any more");
        }
        if (!pairs.containsKey(stored.name()) && !edits.containsKey(stored.name())) {
            return stored;
        }
        return fused.computeIfAbsent(stored.name(), n -> fuse(stored));
    }

    private static BadWeightsException quantised(Path file, String name, String encoding) {
        return new BadWeightsException(file + ": tensor " + name + " is " + encoding
                + ", expected F32, BF16 or F16; this adapter is fused into original weights, not into quantised ones");
    }

    private StoredTensor fuse(StoredTensor stored) {
        if (stored.dtype() != DType.F32 && stored.dtype() != DType.BF16 && stored.dtype() != DType.F16) {
            throw quantised(stored.file(), stored.name(), stored.dtype().name());
        }
        long rows = stored.shape().rank() == 0 ? 1 : stored.shape().dim(0);
        long width = rows == 0 ? 0 : stored.shape().elements() / rows;
        MemorySegment data = arena.allocate(Math.max(1, stored.data().byteSize()), 64).asSlice(0, stored.data().byteSize());
        Tensor out = Tensor.of(stored.dtype(), Shape.of(rows, width), data, Device.CPU);
        try (Workspace memory = backend.workspace("fused " + stored.name())) {
            Tensor weight = backend.load(flat(stored, rows, width), memory);
            long step = Math.max(1, BLOCK / Math.max(1, width));
            for (long from = 0; from < rows; from += step) {
                long to = Math.min(rows, from + step);
                try (Workspace.Frame _ = memory.frame()) {
                    Tensor sum = memory.f32(to - from, width);
                    backend.copy(weight.rows(from, to), sum);
                    for (LowRankPair pair : pairs.getOrDefault(stored.name(), List.of())) {
                        add(memory, pair, rows, from, sum);
                    }
                    edit(memory, stored.name(), rows, width, from, sum);
                    backend.copy(sum, out.rows(from, to));
                }
            }
            backend.finish();
        }
        return new StoredTensor(stored.name(), stored.dtype(), stored.shape(), data.asReadOnly(), stored.file());
    }

    /** B A for those of the rows that start at {@code first} which the pair's part covers. */
    private void add(Workspace memory, LowRankPair pair, long rows, long first, Tensor sum) {
        long height = pair.up().shape().dim(0);
        long start = pair.target().part() == AdapterTarget.Part.GATE ? rows - height : 0;
        long from = Math.max(first, start);
        long to = Math.min(first + sum.size(0), start + height);
        if (from >= to || pair.rank() == 0) {
            return;
        }
        Parameters p = Parameters.atHand(backend, memory, Rounding.AS_STORED);
        Tensor up = ((DenseWeight) p.matrix(pair.up())).values().rows(from - start, to - start);
        Tensor down = ((DenseWeight) p.matrix(pair.down())).values();
        Tensor product = memory.f32(to - from, sum.size(1));
        backend.linear(Operand.of(up), new DenseWeight(down.permute(1, 0)), product);
        backend.addScaled(product, (float) pair.factor(), sum.rows(from - first, to - first));
    }

    private void edit(Workspace memory, String name, long rows, long width, long from, Tensor sum) {
        WeightEdit edit = edits.get(name);
        if (edit == null) {
            return;
        }
        Tensor value = backend.load(flat(edit.value(), rows, width), memory).rows(from, from + sum.size(0));
        switch (edit.kind()) {
            case SET -> backend.copy(value, sum);
            case ADD -> {
                Tensor wide = memory.f32(sum.size(0), width);
                backend.copy(value, wide);
                backend.add(sum, wide, sum);
            }
        }
    }

    private static StoredTensor flat(StoredTensor t, long rows, long width) {
        return new StoredTensor(t.name(), t.dtype(), Shape.of(rows, width), t.data(), t.file());
    }

    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            fused.clear();
            backend.close();
            arena.close();
        }
    }
}
