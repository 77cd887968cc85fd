package io.kinema.cuda;

import io.kinema.compute.StagingLoader;
import io.kinema.compute.Tensor;
import io.kinema.compute.TimeMark;
import io.kinema.compute.Workspace;
import io.kinema.cuda.driver.GpuEvent;
import io.kinema.cuda.driver.GpuStream;
import io.kinema.cuda.kernel.Launcher;
import io.kinema.cuda.memory.DeviceWorkspace;
import io.kinema.cuda.ops.CudaMoves;
import io.kinema.cuda.ops.OpContext;
import io.kinema.weights.StoredTensor;

/**
 * Owns a copy stream beside a backend's own, with scratch memory for conversions, until it is closed; closing twice is harmless. Its
 * workspaces take memory from the backend's pool, and write it after what the backend had enqueued by then.
 */
final class CudaStagingLoader implements StagingLoader {
    private final CudaParts parts;
    private final GpuStream stream;
    private final Launcher launcher;
    private final Workspace scratch;
    private final CudaMoves moves;
    private boolean closed;

    CudaStagingLoader(CudaParts parts) {
        this.parts = parts;
        this.stream = new GpuStream(parts.context());
        this.launcher = new Launcher(parts.modules(), stream);
        this.scratch = workspace("conversions of staged weights");
        this.moves = new CudaMoves(new OpContext(parts.device(), parts.context().facts(), stream, launcher, scratch));
    }

    private record EventFence(GpuEvent event) implements Fence {
        @Override
        public void close() {
            event.close();
        }
    }

    private GpuEvent recorded(GpuStream on) {
        parts.context().makeCurrent();
        GpuEvent event = new GpuEvent(parts.context());
        event.record(on);
        return event;
    }

    @Override
    public Workspace workspace(String owner) {
        return new DeviceWorkspace(owner, parts.device(), parts.pool(), this::followBackend);
    }

    /** Memory that the backend gave back may still be in use by what it enqueued before. */
    private void followBackend() {
        try (GpuEvent soFar = recorded(parts.stream())) {
            stream.waitFor(soFar);
        }
    }

    @Override
    public Tensor load(StoredTensor stored, Workspace owner) {
        parts.context().makeCurrent();
        return CudaBackend.upload(stored, owner, stream);
    }

    @Override
    public void copy(Tensor src, Tensor dst) {
        parts.context().makeCurrent();
        moves.copy(src, dst);
    }

    @Override
    public boolean beside() {
        return true;
    }

    @Override
    public Fence loaded() {
        return new EventFence(recorded(stream));
    }

    @Override
    public Fence computed() {
        return new EventFence(recorded(parts.stream()));
    }

    @Override
    public void waitFor(Fence fence) {
        follow(stream, fence);
    }

    @Override
    public void holdBackend(Fence fence) {
        follow(parts.stream(), fence);
    }

    private void follow(GpuStream follower, Fence fence) {
        if (fence instanceof EventFence point) {
            parts.context().makeCurrent();
            follower.waitFor(point.event());
        }
    }

    @Override
    public TimeMark mark() {
        return new CudaBackend.DeviceMark(recorded(stream));
    }

    @Override
    public void finish() {
        parts.context().makeCurrent();
        stream.synchronize();
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            finish();
            scratch.close();
            launcher.close();
            stream.close();
        }
    }
}
