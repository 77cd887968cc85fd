package io.kinema.serve.request;

import io.kinema.engine.AdapterUse;
import io.kinema.engine.model.ModelGeometry;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;

/**
 * What this server offers to its clients.
 *
 * @param model    name of the model
 * @param geometry the sizes that requests are checked against
 * @param adapters those that clients may name
 * @param files    root of the files that clients may name by path; none when empty
 */
public record Offer(String model, ModelGeometry geometry, Map<String, AdapterUse> adapters, Optional<Path> files) {
    /** The name by which every server of the released model knows it. */
    public static final String RELEASED = "MiniMaxAI/MiniMax-H3";

    public Offer {
        Objects.requireNonNull(model, "model");
        Objects.requireNonNull(geometry, "geometry");
        adapters = java.util.Collections.unmodifiableMap(new TreeMap<>(adapters));
        Objects.requireNonNull(files, "files");
    }
}
