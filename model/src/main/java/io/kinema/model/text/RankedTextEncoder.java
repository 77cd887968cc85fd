package io.kinema.model.text;

import io.kinema.compute.Backend;
import io.kinema.compute.Precision;
import io.kinema.compute.Tensor;
import io.kinema.compute.Workspace;
import io.kinema.compute.collective.BackendGroup;
import io.kinema.model.StageTap;
import io.kinema.model.load.Parameters.Rounding;
import io.kinema.model.load.WeightResidency;
import io.kinema.weights.TensorSource;
import java.util.List;

/**
 * Owns one {@link TextEncoder} for each rank of a group until it is closed; closing twice is harmless. The language layers are shared out by heads and
 * channels; embeddings and the vision tower are whole on every rank, which costs memory and no time where each has a device. All ranks compute the
 * same values and the first one's are handed out. The group and the source must outlive it.
 */
public final class RankedTextEncoder implements PromptEncoder {
    private final BackendGroup group;
    private final List<Rank> ranks;

    /** Owns one rank's encoder and the states that nobody reads, until it is closed. Used by the rank's thread. */
    private record Rank(TextEncoder encoder, Workspace results) implements AutoCloseable {
        static Rank of(Backend backend, TextEncoder encoder) {
            return new Rank(encoder, backend.workspace("text states of a rank"));
        }

        @Override
        public void close() {
            results.close();
            encoder.close();
        }
    }

    private RankedTextEncoder(BackendGroup group, List<Rank> ranks) {
        this.group = group;
        this.ranks = ranks;
    }

    /**
     * {@link TextEncoder#open} on every rank of a group: they read one source, which on the host they share.
     *
     * @throws IllegalArgumentException              when {@link TextConfig#spreadsOver} says that it cannot be shared out so
     * @throws io.kinema.weights.BadWeightsException when the checkpoint has fewer layers, or a tensor is missing or does not fit the config
     */
    public static RankedTextEncoder open(BackendGroup group, TensorSource source, TextEncoderConfig config, int layer, Precision precision,
                                         Rounding rounding, WeightResidency residency) {
        return new RankedTextEncoder(group, group.open(member -> Rank.of(member.backend(),
                TextEncoder.open(member.backend(), source, config, layer, precision, rounding, residency, member.ranks()))));
    }

    @Override
    public TextEncoderConfig config() {
        return ranks.getFirst().encoder().config();
    }

    @Override
    public long peakScratchBytes() {
        return ranks.stream().mapToLong(rank -> rank.encoder().peakScratchBytes()).sum();
    }

    @Override
    public Tensor encode(TextEncoderInput input, Workspace owner, StageTap tap) {
        return group.each(member -> {
            Rank mine = ranks.get(member.ranks().rank());
            boolean first = member.ranks().rank() == 0;
            try (Workspace.Frame _ = mine.results().frame()) {
                Tensor states = mine.encoder().encode(input, first ? owner : mine.results(), first ? tap : StageTap.NONE);
                member.backend().finish();
                return states;
            }
        }).getFirst();
    }

    @Override
    public void close() {
        ranks.forEach(Rank::close);
    }
}
