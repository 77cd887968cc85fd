package io.kinema.model.video;

import io.kinema.compute.Backend;
import io.kinema.compute.Tensor;
import io.kinema.compute.Workspace;
import java.util.ArrayList;
import java.util.List;

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
    /** Codes tiles of one size together. */
    @FunctionalInterface
    interface Coder {
        /**
         * @param ins  the tiles, on the rank's device, any strides
         * @param outs one for each, written whole; on the rank's device
         */
        void code(List<Tensor> ins, List<Tensor> outs);
    }

    /** Codes tiles whose values lie on the host, or where this lane computes. */
    void code(List<TileRounds.Job> jobs) {
        if (jobs.getFirst().in().device().equals(backend.device())) {
            coder.code(jobs.stream().map(TileRounds.Job::in).toList(), jobs.stream().map(TileRounds.Job::out).toList());
            return;
        }
        try (Workspace.Frame _ = ws.frame()) {
            List<Tensor> mine = new ArrayList<>();
            List<Tensor> made = new ArrayList<>();
            for (TileRounds.Job job : jobs) {
                mine.add(ws.f32(job.in().shape().toArray()));
                backend.copy(job.in(), mine.getLast());
                made.add(ws.f32(job.out().shape().toArray()));
            }
            coder.code(mine, made);
            for (int i = 0; i < made.size(); i++) {
                backend.copy(made.get(i), jobs.get(i).out());
            }
            backend.finish();
        }
    }

    @Override
    public void close() {
        frame.close();
    }
}
