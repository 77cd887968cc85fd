package io.kinema.model.adapter;

import io.kinema.model.adapter.Adapter.Recognition;
import io.kinema.model.adapter.KnownAdapter.Published;
import io.kinema.weights.BadWeightsException;
import java.util.Locale;
import java.util.Optional;

/** Says which known artefact a file is: by its content first, then by what its metadata states, last by its name. */
final class AdapterRecognizer {
    private static final String DIFFUSERS_KEYS = "minimax-h3-diffusers";

    private AdapterRecognizer() {
    }

    /**
     * What a file was recognised as.
     *
     * @param as the answer for messages
     * @param known alpha, contract and completeness that come with it
     */
    record Recognized(Recognition as, Optional<KnownAdapter> known) {
        static final Recognized NOT = new Recognized(Recognition.NONE, Optional.empty());

        Optional<SamplingContract> contract() {
            return known.flatMap(KnownAdapter::contract);
        }
    }

    /** @throws BadWeightsException when the file says it is something that it is not */
    static Recognized recognize(AdapterSource source) {
        Optional<KnownAdapter> byContent = KnownAdapters.withContent(source.sha256());
        if (byContent.isPresent()) {
            return recognized(byContent.get(), "content hash");
        }
        Optional<KnownAdapter> byMetadata = byMetadata(source);
        if (byMetadata.isPresent()) {
            return recognized(byMetadata.get(), "metadata");
        }
        return KnownAdapters.named(source.fileName()).filter(k -> nameMayBeTrue(source, k))
                .map(k -> recognized(k, "file name")).orElse(Recognized.NOT);
    }

    private static Recognized recognized(KnownAdapter known, String by) {
        return new Recognized(new Recognition(known.name(), by), Optional.of(known));
    }

    private static Optional<KnownAdapter> byMetadata(AdapterSource source) {
        if (FastH3.is(source.metadata())) {
            return Optional.of(KnownAdapters.fastH3());
        }
        try {
            return KnownAdapters.stated(source.metadata());
        } catch (IllegalArgumentException e) {
            throw new BadWeightsException(source.tensors().origin() + ": metadata " + e.getMessage() + "; export the adapter again", e);
        }
    }

    /** A file of the published size with another digest is that file, damaged; one of another size is somebody's own. */
    private static boolean nameMayBeTrue(AdapterSource source, KnownAdapter known) {
        Optional<Published> published = known.published().filter(p -> p.bytes() == source.bytes());
        if (published.isPresent()) {
            throw new BadWeightsException(source.tensors().origin() + ": SHA-256 is " + source.sha256().substring(0, 8) + "..., expected "
                    + published.get() + " for " + known.name() + "; the file is damaged, fetch it again");
        }
        String keys = source.metadata().getOrDefault("key_format", DIFFUSERS_KEYS).toLowerCase(Locale.ROOT);
        if (!keys.equals(DIFFUSERS_KEYS)) {
            throw new BadWeightsException(source.tensors().origin() + ": metadata key_format is '" + keys + "', expected " + DIFFUSERS_KEYS
                    + " for a file of this name; rename it if it is another adapter");
        }
        return true;
    }
}
