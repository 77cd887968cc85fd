package io.kinema.model.adapter;

import io.kinema.model.adapter.AdapterTarget.Part;
import java.util.List;
import java.util.stream.Stream;

/**
 * Where the output rows of a module that an adapter file names belong, block by block of equal height.
 *
 * @param targets from the first row on
 * @param mayInterleave fused queries, keys and values of the original checkpoint, whose raw rows are interleaved per head
 */
record ModulePlacement(List<AdapterTarget> targets, boolean mayInterleave) {
    static ModulePlacement whole(String module) {
        return new ModulePlacement(List.of(AdapterTarget.whole(module)), false);
    }

    /** {@code attention} ends with a dot. */
    static ModulePlacement qkv(String attention, boolean mayInterleave) {
        return new ModulePlacement(Stream.of("to_q", "to_k", "to_v").map(n -> AdapterTarget.whole(attention + n)).toList(), mayInterleave);
    }

    static ModulePlacement valueThenGate(String module) {
        return halves(module, Part.VALUE, Part.GATE);
    }

    static ModulePlacement gateThenValue(String module) {
        return halves(module, Part.GATE, Part.VALUE);
    }

    private static ModulePlacement halves(String module, Part first, Part second) {
        return new ModulePlacement(List.of(new AdapterTarget(module, first), new AdapterTarget(module, second)), false);
    }
}
