package io.kinema.model.adapter;

import io.kinema.model.adapter.Adapter.AlphaUsed;
import io.kinema.model.adapter.Adapter.AlphaUsed.Source;
import io.kinema.model.adapter.AdapterRecognizer.Recognized;
import io.kinema.weights.BadWeightsException;
import io.kinema.weights.StoredTensor;
import java.util.LinkedHashSet;
import java.util.Optional;
import java.util.Set;

/**
 * Decides every pair's alpha / rank: what the file says (per module, then in its metadata), else what is known of the
 * artefact, else what the caller says, else a refusal: a wrong guess is a factor of 16, which is noise or nothing.
 */
final class AlphaChoice {
    private final String origin;
    private final StatedAlpha metadata;
    private final Optional<Alpha> known;
    private final Optional<Alpha> otherwise;
    private final Set<String> used = new LinkedHashSet<>();
    private Source from = Source.FILE;

    AlphaChoice(AdapterSource source, Recognized recognized, Optional<Alpha> otherwise) {
        this.origin = source.tensors().origin();
        this.metadata = StatedAlpha.read(origin, source.metadata());
        this.known = recognized.known().flatMap(KnownAdapter::alpha);
        this.otherwise = otherwise;
    }

    /**
     * @param own    of the module's own alpha tensor
     * @param module in the diffusers layout
     */
    double factor(Optional<Double> own, String module, StoredTensor down) {
        int rank = down.shape().size(0);
        Optional<Alpha> file = own.map(Alpha::of).or(() -> metadata.of(module));
        Alpha alpha = file.or(() -> known).or(() -> otherwise).orElseThrow(() -> new BadWeightsException(origin
                + ": no alpha in the file, and it is no known adapter; state it with --adapter-alpha: a number, or rank for a factor of 1"));
        used.add(alpha.toString());
        from = file.isPresent() ? Source.FILE : known.isPresent() ? Source.KNOWN : Source.CALLER;
        return alpha.factor(rank) * (file.isPresent() ? metadata.correction(rank) : 1);
    }

    /** What was used, and who said it last. */
    AlphaUsed used() {
        return new AlphaUsed(used.isEmpty() ? "none" : used.size() == 1 ? used.iterator().next() : "per module", from);
    }
}
