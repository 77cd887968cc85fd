package io.kinema.model.video;

import io.kinema.compute.Backend;
import io.kinema.compute.Device;
import io.kinema.compute.Tensor;
import io.kinema.compute.collective.BackendGroup;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Codes tiles a round at a time, one or several together on each rank. A tile is coded whole by one rank, as it would be alone, and the caller joins them in
 * their order: the bits do not depend on how many ranks there are. Owns the lanes until it is closed.
 */
final class TileRounds implements AutoCloseable {
    private final BackendGroup group;
    private final int together;
    private final List<TileLane> lanes;

    /**
     * One tile to code.
     *
     * @param in  on the first rank's device, any strides; not written to before the round ends
     * @param out there too; written whole
     */
    record Job(Tensor in, Tensor out) {
    }

    /**
     * @param together most tiles that a rank codes together
     * @param lanes    of the first ranks of the group, at least one
     */
    TileRounds(BackendGroup group, int together, List<TileLane> lanes) {
        this.group = group;
        this.together = together;
        this.lanes = lanes;
    }

    /** How many of {@code tiles} to code together so that about {@code rows} rows are: evenly, at least one. */
    static int tilesTogether(long rows, int rowsOfTile, int tiles) {
        int most = (int) Math.clamp(Math.round((double) rows / rowsOfTile), 1, tiles);
        return Math.ceilDiv(tiles, Math.ceilDiv(tiles, most));
    }

    /** Most tiles of a round. */
    int size() {
        return lanes.size() * together;
    }

    /** Codes as many tiles as a round has, or fewer. */
    void run(List<Job> jobs) {
        if (lanes.size() == 1) {
            lanes.getFirst().code(jobs);
            return;
        }
        int each = Math.ceilDiv(jobs.size(), lanes.size());
        // The first rank's own tiles lie where it computes.
        List<Job> staged = IntStream.range(0, jobs.size()).mapToObj(i -> i < each ? jobs.get(i) : staged(jobs.get(i))).toList();
        group.each(member -> {
            int rank = member.ranks().rank();
            int from = Math.min(staged.size(), rank * each);
            int to = Math.min(staged.size(), from + each);
            if (from < to) {
                lanes.get(rank).code(staged.subList(from, to));
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
        for (int i = 0; i < size(); i++) {
            all.add(lanes.getFirst().ws().f32(dims));
        }
        return all;
    }

    @Override
    public void close() {
        lanes.forEach(TileLane::close);
    }
}
