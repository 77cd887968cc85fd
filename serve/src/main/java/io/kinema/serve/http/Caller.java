package io.kinema.serve.http;

import java.util.Objects;
import java.util.Optional;

/**
 * Whoever makes a request.
 *
 * @param owner a name for the key, by which its jobs are told from others'; empty on a server without keys
 */
public record Caller(Optional<String> owner) {
    public Caller {
        Objects.requireNonNull(owner, "owner");
    }

    /** True when something of this owner is the caller's to see. */
    public boolean owns(Optional<String> other) {
        return owner.isEmpty() || owner.equals(other);
    }
}
