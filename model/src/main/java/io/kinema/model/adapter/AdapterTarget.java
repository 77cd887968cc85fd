package io.kinema.model.adapter;

import java.util.Locale;
import java.util.Objects;

/**
 * A linear layer that an adapter adds to. The transformer computes the two halves of {@code ff.net.0.proj} as layers of
 * their own, so they are targets of their own.
 *
 * @param module name of the module in the diffusers layout, without {@code .weight}
 * @param part   which of its rows
 */
public record AdapterTarget(String module, Part part) {
    public AdapterTarget {
        Objects.requireNonNull(module, "module");
        Objects.requireNonNull(part, "part");
    }

    /** Rows of a module. */
    public enum Part {
        /** All of them. */
        WHOLE,
        /** The first half of a SwiGLU's fused input projection. */
        VALUE,
        /** The second half. */
        GATE
    }

    /** All rows of a module. */
    public static AdapterTarget whole(String module) {
        return new AdapterTarget(module, Part.WHOLE);
    }

    @Override
    public String toString() {
        return part == Part.WHOLE ? module : module + " (" + part.name().toLowerCase(Locale.ROOT) + " half)";
    }
}
