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
 * @param given   the rows as they came
 * @param rotated the same rows in the coordinates of rotated weights
 */
public record PreparedInput(Operand given, Map<Rotation, Operand> rotated) {
    public PreparedInput {
        rotated = Map.copyOf(rotated);
    }

    /** @param given not rotated, or rotated already where {@link #soleRotation} of the readers says so */
    public static PreparedInput of(Execution run, Operand given, List<Linear> readers) {
        if (given.rotation().isPresent()) {
            return new PreparedInput(given, Map.of(given.rotation().get(), given));
        }
        Map<Rotation, Operand> rotated = new HashMap<>();
        for (Linear reader : readers) {
            reader.weight().rotation().ifPresent(r -> rotated.computeIfAbsent(r, _ -> run.backend().rotate(given, r, run.scratch())));
        }
        return new PreparedInput(given, rotated);
    }

    /** The rotation in which all readers want the rows, when there is one and no adapter reads them as they are: then nobody misses the original. */
    public static Optional<Rotation> soleRotation(List<Linear> readers) {
        Optional<Rotation> first = readers.stream().findFirst().flatMap(reader -> reader.weight().rotation());
        return readers.stream().allMatch(reader -> reader.weight().rotation().equals(first) && reader.deltas().isEmpty()) ? first : Optional.empty();
    }

    /** How many rows there are. */
    public int rows() {
        return given.values().size(0);
    }

    /**
     * The rows as they are, which is what adapters read whatever the base wants.
     *
     * @throws IllegalArgumentException when they came rotated
     */
    Operand original() {
        if (given.rotation().isPresent()) {
            throw new IllegalArgumentException("prepared input: got rows rotated by " + given.rotation().get() + " alone, expected them as they are too");
        }
        return given;
    }

    /**
     * The rows in a weight's coordinates.
     *
     * @throws IllegalArgumentException when they were not prepared for them
     */
    Operand in(Optional<Rotation> rotation) {
        if (rotation.isEmpty()) {
            return original();
        }
        return Optional.ofNullable(rotated.get(rotation.get())).orElseThrow(() -> new IllegalArgumentException(
                "prepared input: got rows rotated by " + rotated.keySet() + ", expected " + rotation.get() + " among them"));
    }
}
