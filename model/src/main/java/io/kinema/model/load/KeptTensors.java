package io.kinema.model.load;

import io.kinema.compute.Backend;
import io.kinema.compute.Device;
import io.kinema.compute.MatrixLayout;
import io.kinema.compute.Tensor;
import io.kinema.compute.Workspace;
import io.kinema.weights.StoredTensor;
import io.kinema.weights.TensorSource;
import io.kinema.weights.prepared.EntryWriter;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/**
 * Writes what a reader makes of a checkpoint's tensors into an entry, one tensor at a time: a network that is opened over it leaves an
 * entry with all that it needs, and none of it in memory of its own. Owns the memory of the tensor at hand until it is closed; checkpoint
 * and writer must outlive it. Used by one thread.
 */
public final class KeptTensors extends TensorsOver implements PreparedTensors {
    private final EntryWriter writer;
    private final Backend host;
    private final Runnable before;
    private final Workspace memory;
    private final Map<String, StoredTensor> kept = new HashMap<>();

    /**
     * @param host   backend of the host, the reader's own
     * @param before is run before each tensor, and may throw what ends the preparation
     */
    public KeptTensors(TensorSource stored, EntryWriter writer, Backend host, Runnable before) {
        super(stored);
        if (host.device().kind() != Device.Kind.CPU) {
            throw new IllegalArgumentException("weights are prepared on the host: got " + host.device() + ", expected a backend of the processor");
        }
        this.writer = writer;
        this.host = host;
        this.before = before;
        this.memory = host.workspace("weights being prepared");
    }

    @Override
    public Optional<StoredTensor> prepared(Form form, Function<Workspace, Tensor> make) {
        return Optional.of(kept.computeIfAbsent(form.key(), key -> {
            before.run();
            try (Workspace.Frame _ = memory.frame()) {
                Tensor made = make.apply(memory);
                host.finish();
                return write(key, form.layout() == MatrixLayout.COLUMN ? made.permute(1, 0) : made);
            }
        }));
    }

    private StoredTensor write(String key, Tensor tensor) {
        if (!tensor.contiguous()) {
            throw new IllegalStateException("prepared tensor " + key + ": got " + tensor + ", expected contiguous values");
        }
        MemorySegment bytes = tensor.data().asSlice(0, tensor.elements() * tensor.dtype().bytes());
        return writer.put(key, tensor.dtype(), tensor.shape(), bytes);
    }

    @Override
    public void close() {
        memory.close();
    }
}
