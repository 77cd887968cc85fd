package io.kinema.model.layer;

import io.kinema.compute.Operand;
import io.kinema.compute.Rotation;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Rows that some linear layers read, in the coordinates of each layer's weight: every rotation is done once, however many
 * layers want it. A view of scratch memory: it dies with the frame that was open when it was made.
 *
 * @param original the rows as they are, which is what adapters read whatever the base wants
 * @param rotated  the same rows in the coordinates of rotated weights
 */
public record PreparedInput(Operand original, Map<Rotation, Operand> rotated) {
    public PreparedInput {
        rotated = Map.copyOf(rotated);
    }

    /** @param original not rotated */
    public static PreparedInput of(Execution run, Operand original, List<Linear> readers) {
        Map<Rotation, Operand> rotated = new HashMap<>();
        for (Linear reader : readers) {
            reader.weight().rotation().ifPresent(r -> rotated.computeIfAbsent(r, _ -> run.backend().rotate(original, r, run.scratch())));
        }
        return new PreparedInput(original, rotated);
    }

    /**
     * The rows in a weight's coordinates.
     *
     * @throws IllegalArgumentException when they were not prepared for them
     */
    Operand in(Optional<Rotation> rotation) {
        if (rotation.isEmpty()) {
            return original;
        }
        return Optional.ofNullable(rotated.get(rotation.get())).orElseThrow(() -> new IllegalArgumentException(
                "prepared input: got rows rotated by " + rotated.keySet() + ", expected " + rotation.get() + " among them"));
    }
}
