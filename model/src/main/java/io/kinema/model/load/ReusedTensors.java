package io.kinema.model.load;

import io.kinema.compute.Tensor;
import io.kinema.compute.Workspace;
import io.kinema.weights.StoredTensor;
import io.kinema.weights.TensorSource;
import io.kinema.weights.prepared.PreparedEntry;
import java.util.Optional;
import java.util.function.Function;

/** A checkpoint with the prepared tensors of an entry beside it. Owns neither; both must outlive it. Safe for use by several threads. */
public final class ReusedTensors extends TensorsOver implements PreparedTensors {
    private final PreparedEntry entry;

    public ReusedTensors(TensorSource stored, PreparedEntry entry) {
        super(stored);
        this.entry = entry;
    }

    @Override
    public Optional<StoredTensor> prepared(Form form, Function<Workspace, Tensor> make) {
        return entry.find(form.key());
    }
}
