package io.kinema.model.load;

import static org.assertj.core.api.Assertions.assertThat;

import io.kinema.weights.Int8Rows;
import java.util.List;
import java.util.OptionalInt;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

class SharedGroupsTest {
    @Test
    void thePublishedGroupCanBeSharedAtTheReleasedSizesAndNotAtSmallOnes() {
        assertThat(SharedGroups.largest(List.of(56 * 128L, 14336L), 4, 256)).hasValue(256);
        assertThat(SharedGroups.largest(List.of(256L, 512L), 4, 256)).hasValue(64);
        assertThat(SharedGroups.largest(List.of(256L, 512L), 2, 256)).hasValue(64);
        assertThat(SharedGroups.largest(List.of(6L), 4, 256)).isEmpty();
    }

    /** With the limit that is named every part is whole groups, and with the next larger one not. */
    @Property
    void theLargestIsTheLargest(@ForAll @IntRange(min = 1, max = 400) int a, @ForAll @IntRange(min = 1, max = 400) int b, @ForAll @IntRange(min = 0, max = 2) int power) {
        List<Long> widths = List.of(a * 4L, b * 16L);
        int ranks = 1 << power;
        OptionalInt limit = SharedGroups.largest(widths, ranks, 256);
        limit.ifPresent(most -> assertThat(widths).allMatch(width -> shared(width, ranks, most)));
        int next = limit.orElse(1) * 4;
        if (next <= 256) {
            assertThat(widths).anyMatch(width -> !shared(width, ranks, next));
        }
    }

    private static boolean shared(long width, int ranks, int most) {
        int group = Int8Rows.group(width, most).orElse(1);
        return width % ranks == 0 && width / ranks % group == 0;
    }
}
