package io.kinema.engine.verify;

import io.kinema.compute.Tensor;
import io.kinema.model.StageTap;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.SequencedSet;
import java.util.Set;
import java.util.function.Function;

/** Keeps the first value of each wanted intermediate, in the order they were computed. */
final class StageRecorder implements StageTap {
    private final Set<String> wanted;
    private final Function<Tensor, Values> read;
    private final SequencedMap<String, Values> seen = new LinkedHashMap<>();

    /** @param read copies a tensor's values, wherever it lies */
    StageRecorder(Set<String> wanted, Function<Tensor, Values> read) {
        this.wanted = wanted;
        this.read = read;
    }

    @Override
    public boolean wants(String name) {
        return wanted.contains(name);
    }

    @Override
    public void stage(String name, Tensor value) {
        if (wants(name)) {
            seen.computeIfAbsent(name, _ -> read.apply(value));
        }
    }

    /** An intermediate that is no tensor of a backend. */
    void stage(String name, Values value) {
        if (wants(name)) {
            seen.putIfAbsent(name, value);
        }
    }

    boolean active() {
        return !wanted.isEmpty();
    }

    /** Names in the order they were computed. */
    SequencedSet<String> order() {
        return Collections.unmodifiableSequencedSet(seen.sequencedKeySet());
    }

    Optional<Values> find(String name) {
        return Optional.ofNullable(seen.get(name));
    }
}
