package io.kinema.model.layout;

import io.kinema.weights.BadWeightsException;
import io.kinema.weights.Shape;
import io.kinema.weights.StoredMatrix;
import io.kinema.weights.StoredTensor;
import io.kinema.weights.TensorHeader;
import io.kinema.weights.TensorSource;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.Optional;
import java.util.SequencedSet;

/**
 * Owns a checkpoint whose names all begin with {@code model.diffusion_model.}, as some programs write them, until it is closed,
 * and presents it without. Closing twice is harmless. Safe for use by several threads.
 */
final class UnprefixedTensors implements TensorSource {
    static final String PREFIX = "model.diffusion_model.";

    private final TensorSource stored;

    private UnprefixedTensors(TensorSource stored) {
        this.stored = stored;
    }

    /**
     * @param stored closed with the result, or when this fails
     * @return the checkpoint itself when no name has the prefix
     * @throws BadWeightsException when some names have it and some do not
     */
    static TensorSource over(TensorSource stored) {
        long prefixed = stored.names().stream().filter(n -> n.startsWith(PREFIX)).count();
        if (prefixed == 0) {
            return stored;
        }
        if (prefixed == stored.names().size()) {
            return new UnprefixedTensors(stored);
        }
        String bare = stored.names().stream().filter(n -> !n.startsWith(PREFIX)).findFirst().orElseThrow();
        String origin = stored.origin();
        stored.close();
        throw new BadWeightsException(origin + ": tensor " + bare + " has no prefix " + PREFIX + " and " + prefixed
                + " others do, expected all or none; give a file of the transformer alone");
    }

    @Override
    public SequencedSet<String> names() {
        SequencedSet<String> bare = new LinkedHashSet<>();
        stored.names().forEach(n -> bare.add(n.substring(PREFIX.length())));
        return Collections.unmodifiableSequencedSet(bare);
    }

    @Override
    public Optional<TensorHeader> header(String name) {
        return stored.header(PREFIX + name).map(h -> h.as(name, h.shape()));
    }

    @Override
    public Optional<StoredTensor> find(String name) {
        return stored.find(PREFIX + name);
    }

    @Override
    public StoredTensor get(String name) {
        return stored.get(PREFIX + name);
    }

    @Override
    public Shape shape(String name) {
        return stored.shape(PREFIX + name);
    }

    @Override
    public StoredTensor rows(String name, long from, long to) {
        return stored.rows(PREFIX + name, from, to);
    }

    @Override
    public StoredMatrix matrix(String name, long from, long to) {
        return stored.matrix(PREFIX + name, from, to);
    }

    @Override
    public long runEnd(String name, long from, long to) {
        return stored.runEnd(PREFIX + name, from, to);
    }

    @Override
    public String origin() {
        return stored.origin();
    }

    @Override
    public void close() {
        stored.close();
    }
}
