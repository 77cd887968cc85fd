package io.kinema.compute.reference;

import io.kinema.compute.Device;
import io.kinema.compute.HostWorkspace;
import io.kinema.compute.Tensor;
import io.kinema.compute.Workspace;
import io.kinema.compute.check.CheckedBackend;
import io.kinema.weights.StoredTensor;

/**
 * Owns nothing that needs closing. The oracle of the tests: scalar loops in their textbook form, sums in FP64, rounded where
 * the operation says. Correct first; fast enough for small models.
 */
public final class ReferenceBackend extends CheckedBackend {

    public ReferenceBackend() {
        super(Device.CPU, new Kernels(new ReferenceLinear(), new ReferenceNorms(), new ReferenceAttention(),
                new ReferenceElementwise(), new ReferenceConvolutions(), new ReferenceMoves()));
    }

    @Override
    public String name() {
        return "reference";
    }

    @Override
    public Workspace workspace(String owner) {
        return HostWorkspace.create(owner);
    }

    @Override
    public Tensor load(StoredTensor stored, Workspace owner) {
        return Tensor.of(stored.dtype(), stored.shape(), stored.data(), Device.CPU);
    }

    @Override
    public void finish() {
        kernels();
    }
}
