package io.kinema.cuda.collective;

import io.kinema.compute.collective.Communicator;
import io.kinema.cuda.driver.GpuEvent;
import java.util.List;

/**
 * Orders the streams of a group's ranks among each other without making a thread wait for a device. Owns this rank's two events until it is closed; closing twice
 * is harmless. Used by the rank's thread.
 */
final class StreamOrder implements AutoCloseable {
    private final Communicator host;
    private final RankGpu gpu;
    private final List<GpuEvent> mine;
    private final List<List<GpuEvent>> all;
    private int turn;

    /** Collective. */
    StreamOrder(Communicator host, RankGpu gpu) {
        this.host = host;
        this.gpu = gpu;
        this.mine = List.of(GpuEvent.untimed(gpu.context()), GpuEvent.untimed(gpu.context()));
        this.all = host.exchange(mine);
    }

    /** What was enqueued on any rank's stream before its call comes before what is enqueued on this one's after it. Collective. */
    void meet() {
        mine.get(turn).record(gpu.operations().stream());
        host.barrier();
        for (int rank = 0; rank < all.size(); rank++) {
            if (rank != host.rank()) {
                gpu.operations().stream().waitFor(all.get(rank).get(turn));
            }
        }
        // Two events in turn: nobody marks an event again before all have come to the next meeting, and so have waited for its last mark.
        turn ^= 1;
    }

    @Override
    public void close() {
        mine.forEach(GpuEvent::close);
    }
}
