package io.kinema.model.dit;

import io.kinema.compute.Backend;
import io.kinema.compute.Device;
import io.kinema.compute.MatrixLayout;
import io.kinema.compute.Precision;
import io.kinema.compute.Tensor;
import io.kinema.compute.TimeMark;
import io.kinema.compute.Workspace;
import io.kinema.compute.collective.BackendGroup;
import io.kinema.compute.collective.Traffic;
import io.kinema.model.StageTap;
import io.kinema.model.adapter.Adapter;
import io.kinema.model.load.Parameters.Rounding;
import io.kinema.model.load.WeightPlacement;
import io.kinema.weights.TensorSource;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * Owns one {@link Dit} for each rank of a group until it is closed; closing twice is harmless. Every call runs on all ranks at once and ends when
 * all have ended: the first failure of any rank ends the others at their next meeting and is the one that is thrown. All ranks compute the same values;
 * the first one's are handed out. The group and the source must outlive it.
 *
 * <p>It is evaluated where its ranks are ready at the same time, so an evaluation ends when every device has finished it.
 */
public final class RankedDit implements Transformer {
    private final BackendGroup group;
    private final List<Rank> ranks;

    /** Owns one rank's transformer and the velocities that nobody reads, until it is closed. Used by the rank's thread. */
    private static final class Rank implements AutoCloseable {
        private final Dit dit;
        private final Workspace results;
        private double deviceSeconds;
        private double enqueueSeconds;

        Rank(Backend backend, Dit dit) {
            this.dit = dit;
            this.results = backend.workspace("dit velocities of a rank");
        }

        RankMeter meter(Traffic traffic) {
            return new RankMeter(dit.work(), deviceSeconds, enqueueSeconds, traffic, dit.rowReductions(), dit.staging());
        }

        @Override
        public void close() {
            results.close();
            dit.close();
        }
    }

    private RankedDit(BackendGroup group, List<Rank> ranks) {
        this.group = group;
        this.ranks = ranks;
    }

    /**
     * {@link Dit#open} on every rank of a group: they read one source, which on the host they share.
     *
     * @throws IllegalArgumentException              when heads or channels cannot be shared out evenly
     * @throws io.kinema.weights.BadWeightsException when a tensor is missing or does not fit the config
     */
    public static RankedDit open(BackendGroup group, TensorSource source, DitConfig config, Precision precision, Rounding rounding, MatrixLayout layout,
                                 WeightPlacement placement, Optional<ResidualSharding> sharding) {
        return new RankedDit(group, group.open(member -> new Rank(member.backend(),
                Dit.open(member.backend(), source, config, precision, rounding, layout, placement, member.ranks(), sharding))));
    }

    /**
     * Checks what {@link #open} would refuse of the matrices' encodings; reads none of them.
     *
     * @throws io.kinema.weights.BadWeightsException when columns that were rotated together would be spread over ranks
     */
    public static void requireShares(TensorSource source, DitConfig config, int ranks) {
        if (ranks == 1) {
            return;
        }
        IntStream.range(0, config.layers()).forEach(i -> BlockWeights.requireShares(source, Dit.name(i), ranks));
        IntStream.range(0, config.refinerLayers()).forEach(i -> BlockWeights.requireShares(source, TokenRefiner.name(i), ranks));
    }

    @Override
    public DitConfig config() {
        return first().config();
    }

    @Override
    public Precision precision() {
        return first().precision();
    }

    @Override
    public List<RankMeter> meters() {
        List<Traffic> traffic = group.traffic();
        return IntStream.range(0, ranks.size()).mapToObj(rank -> ranks.get(rank).meter(traffic.get(rank))).toList();
    }

    @Override
    public long peakScratchBytes() {
        return ranks.stream().mapToLong(rank -> rank.dit.peakScratchBytes()).sum();
    }

    @Override
    public LoadedAdapter load(Adapter adapter) {
        return led((dit, _) -> dit.load(adapter));
    }

    @Override
    public void use(List<ScaledAdapter> chosen) {
        for (int rank = 0; rank < ranks.size(); rank++) {
            int mine = rank;
            ranks.get(rank).dit.use(chosen.stream().map(one -> new ScaledAdapter(one.adapter().of(mine), one.scale())).toList());
        }
    }

    @Override
    public DitSequence prepare(DitLayout layout, Tensor text, StageTap tap) {
        return led((dit, rank) -> dit.prepare(layout, text, rank == 0 ? tap : StageTap.NONE));
    }

    @Override
    public Modulation modulation(float[] timesteps, StageTap tap) {
        return led((dit, rank) -> dit.modulation(timesteps, rank == 0 ? tap : StageTap.NONE));
    }

    @Override
    public void forward(DitSequence sequence, Modulation modulation, float[] rowTimesteps, Tensor video, Tensor audio, Velocities out, StageTap tap) {
        Tensor hostVideo = onHost(video);
        Tensor hostAudio = onHost(audio);
        group.each(member -> {
            int rank = member.ranks().rank();
            Rank mine = ranks.get(rank);
            try (Workspace.Frame _ = mine.results.frame()) {
                Velocities own = rank == 0 ? out : Velocities.allocate(mine.results, config(), sequence.layout());
                measured(member.backend(), mine, () -> mine.dit.forward(sequence.of(rank), modulation.of(rank), rowTimesteps, hostVideo, hostAudio, own,
                        rank == 0 ? tap : tap.elsewhere()));
            }
            return rank;
        });
    }

    private static void measured(Backend backend, Rank rank, Runnable evaluation) {
        long start = System.nanoTime();
        try (TimeMark begin = backend.mark()) {
            evaluation.run();
            rank.enqueueSeconds += (System.nanoTime() - start) / 1e9;
            try (TimeMark end = backend.mark()) {
                backend.finish();
                rank.deviceSeconds += end.secondsSince(begin);
            }
        }
    }

    /** Every rank uploads the rows for itself, so they have to be where all can read them. */
    private Tensor onHost(Tensor rows) {
        if (rows.device().kind() == Device.Kind.CPU) {
            return rows;
        }
        Backend backend = group.backends().getFirst();
        Tensor host = Tensor.ofFloats(new float[Math.toIntExact(rows.elements())], rows.shape().toArray());
        backend.copy(rows, host);
        backend.finish();
        return host;
    }

    /** Ranks meet on the host within an evaluation, which no recording can hold. */
    @Override
    public Optional<RecordedStep> record(DitSequence sequence, Modulation modulation, Tensor video, Tensor audio, Velocities out) {
        return Optional.empty();
    }

    private Dit first() {
        return ranks.getFirst().dit;
    }

    private interface Maker<T> {
        T make(Dit dit, int rank);
    }

    /** Every rank's part of something, led by the first's. */
    private <T extends RankPart<T>> T led(Maker<T> maker) {
        List<T> parts = group.open(member -> maker.make(ranks.get(member.ranks().rank()).dit, member.ranks().rank()));
        return RankPart.led(parts);
    }

    @Override
    public void close() {
        ranks.forEach(Rank::close);
    }
}
