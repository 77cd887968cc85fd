package io.kinema.model.load;

import io.kinema.weights.Int8Rows;
import java.util.List;
import java.util.OptionalInt;

/** Which widths of rotated groups let ranks share matrices by their columns: a rank's part has to end where a group does. */
public final class SharedGroups {
    private SharedGroups() {
    }

    /**
     * The largest limit on groups with which matrices are quantised so that ranks can share them.
     *
     * @param widths of the matrices, columns
     * @param most   the largest limit that is allowed
     * @return a power of 4; empty when no rotation at all would do
     */
    public static OptionalInt largest(List<Long> widths, int ranks, int most) {
        for (int limit = most; limit >= 4; limit /= 4) {
            int group = limit;
            if (widths.stream().allMatch(width -> fits(width, ranks, Int8Rows.group(width, group)))) {
                return OptionalInt.of(limit);
            }
        }
        return OptionalInt.empty();
    }

    /** Whether each of {@code ranks} equal parts of {@code width} columns is whole groups. */
    public static boolean fits(long width, int ranks, OptionalInt group) {
        return width % ranks == 0 && width / ranks % group.orElse(1) == 0;
    }
}
