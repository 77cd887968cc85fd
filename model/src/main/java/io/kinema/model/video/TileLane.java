package io.kinema.model.video;

import io.kinema.compute.Backend;
import io.kinema.compute.Tensor;
import io.kinema.compute.Workspace;

/**
 * Owns what one rank needs while tiles of one video are coded, until it is closed: a frame of the rank's workspace. Used by the rank's thread; made
 * and closed where nothing else runs.
 *
 * @param backend the rank's
 * @param ws      its scratch memory
 * @param frame   open as long as the lane is
 * @param coder   its network
 */
record TileLane(Backend backend, Workspace ws, Workspace.Frame frame, Coder coder) implements AutoCloseable {
    /** Codes one tile. */
    @FunctionalInterface
    interface Coder {
        /**
         * @param in  the tile, on the rank's device, any strides
         * @param out written whole; on the rank's device
         */
        void code(Tensor in, Tensor out);
    }

    /** Codes a tile whose values lie on the host, or where this lane computes. */
    void code(Tensor in, Tensor out) {
        if (in.device().equals(backend.device())) {
            coder.code(in, out);
            return;
        }
        try (Workspace.Frame _ = ws.frame()) {
            Tensor mine = ws.f32(in.shape().toArray());
            backend.copy(in, mine);
            Tensor made = ws.f32(out.shape().toArray());
            coder.code(mine, made);
            backend.copy(made, out);
            backend.finish();
        }
    }

    @Override
    public void close() {
        frame.close();
    }
}
