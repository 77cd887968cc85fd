package io.kinema.model.video;

import io.kinema.compute.Backend;
import io.kinema.compute.Device;
import io.kinema.compute.Tensor;
import io.kinema.compute.collective.BackendGroup;
import java.util.ArrayList;
import java.util.List;

/**
 * Codes tiles a round at a time, each on a rank of its own. A tile is coded whole by one rank, as it would be alone, and the caller joins them in their
 * order: the bits do not depend on how many ranks there are. Owns the lanes until it is closed.
 */
final class TileRounds implements AutoCloseable {
    private final BackendGroup group;
    private final List<TileLane> lanes;

    /**
     * One tile to code.
     *
     * @param in  on the first rank's device, any strides; not written to before the round ends
     * @param out there too; written whole
     */
    record Job(Tensor in, Tensor out) {
    }

    /** @param lanes of the first ranks of the group, at least one */
    TileRounds(BackendGroup group, List<TileLane> lanes) {
        this.group = group;
        this.lanes = lanes;
    }

    /** Tiles of a round. */
    int size() {
        return lanes.size();
    }

    /** Codes as many tiles as there are ranks, or fewer. */
    void run(List<Job> jobs) {
        if (lanes.size() == 1) {
            jobs.forEach(job -> lanes.getFirst().code(job.in(), job.out()));
            return;
        }
        List<Job> staged = jobs.stream().map(this::staged).toList();
        group.each(member -> {
            int rank = member.ranks().rank();
            if (rank < staged.size()) {
                lanes.get(rank).code(staged.get(rank).in(), staged.get(rank).out());
            }
            return rank;
        });
        Backend first = group.backends().getFirst();
        for (int i = 0; i < jobs.size(); i++) {
            if (staged.get(i) != jobs.get(i)) {
                first.copy(staged.get(i).out(), jobs.get(i).out());
            }
        }
    }

    /** The job itself where all ranks see its tensors, else one on the host. */
    private Job staged(Job job) {
        if (job.in().device().kind() == Device.Kind.CPU) {
            return job;
        }
        Backend first = group.backends().getFirst();
        Job copy = new Job(host(job.in()), host(job.out()));
        first.copy(job.in(), copy.in());
        first.finish();
        return copy;
    }

    private static Tensor host(Tensor like) {
        return Tensor.ofFloats(new float[Math.toIntExact(like.elements())], like.shape().toArray());
    }

    /** Tensors for the tiles of a round, in the first rank's memory. */
    List<Tensor> tensors(long... dims) {
        List<Tensor> all = new ArrayList<>();
        for (int i = 0; i < lanes.size(); i++) {
            all.add(lanes.getFirst().ws().f32(dims));
        }
        return all;
    }

    @Override
    public void close() {
        lanes.forEach(TileLane::close);
    }
}
