package io.kinema.compute.collective;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RowSharesTest {
    @ParameterizedTest
    @CsvSource({"34551, 4, 34560, 8640", "12323, 4, 12352, 3088", "69325, 4, 69376, 17344", "34551, 2, 34560, 17280", "64, 4, 64, 16", "1, 3, 66, 22", "0, 4, 0, 0"})
    void publishedSequencesArePaddedAsTheyWere(int rows, int ranks, int padded, int each) {
        RowShares shares = RowShares.padded(rows, ranks, 64);
        assertThat(shares.padded()).isEqualTo(padded);
        assertThat(shares.each()).isEqualTo(each);
    }

    @Property
    void everyRowHasOneRank(@ForAll @IntRange(max = 500) int rows, @ForAll @IntRange(min = 1, max = 9) int ranks, @ForAll @IntRange(min = 1, max = 70) int multiple) {
        RowShares shares = RowShares.padded(rows, ranks, multiple);
        int next = 0;
        for (int rank = 0; rank < ranks; rank++) {
            assertThat(shares.from(rank)).isEqualTo(next);
            assertThat(shares.count(rank)).isBetween(0, shares.each());
            next = shares.to(rank);
        }
        assertThat(next).isEqualTo(rows);
    }

    @Test
    void roomForFewerRowsThanThereAreIsRefused() {
        assertThatThrownBy(() -> new RowShares(9, 4, 2)).isInstanceOf(IllegalArgumentException.class).hasMessageContaining("expected room for all");
    }
}
