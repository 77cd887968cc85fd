package io.kinema.compute.cpu;

import io.kinema.compute.Device;
import io.kinema.compute.HostWorkspace;
import io.kinema.compute.StagingLoader;
import io.kinema.compute.Tensor;
import io.kinema.compute.TimeMark;
import io.kinema.compute.Workspace;
import io.kinema.weights.StoredTensor;
import java.util.concurrent.atomic.LongAdder;

/**
 * Owns one thread's scratch memory until it is closed: converts on the thread that calls it, beside the backend's workers. The
 * bits of a conversion do not depend on who makes it.
 */
final class CpuStagingLoader implements StagingLoader {
    private final WorkerPool alone = new WorkerPool(1);
    private final CpuMoves moves = new CpuMoves(alone);
    private final LongAdder held;

    /** @param held counts the bytes of open workspaces */
    CpuStagingLoader(LongAdder held) {
        this.held = held;
    }

    @Override
    public Workspace workspace(String owner) {
        return HostWorkspace.counted(owner, held);
    }

    @Override
    public Tensor load(StoredTensor stored, Workspace owner) {
        return Tensor.of(stored.dtype(), stored.shape(), stored.data(), Device.CPU);
    }

    @Override
    public void copy(Tensor src, Tensor dst) {
        moves.copy(src, dst);
    }

    @Override
    public boolean beside() {
        return true;
    }

    @Override
    public Fence loaded() {
        return Fence.REACHED;
    }

    @Override
    public Fence computed() {
        return Fence.REACHED;
    }

    @Override
    public void waitFor(Fence fence) {
        // Operations on the host have run when they return.
    }

    @Override
    public void holdBackend(Fence fence) {
        // Operations on the host have run when they return.
    }

    @Override
    public TimeMark mark() {
        return TimeMark.host();
    }

    @Override
    public void finish() {
        // Operations on the host have run when they return.
    }

    @Override
    public void close() {
        alone.close();
    }
}
