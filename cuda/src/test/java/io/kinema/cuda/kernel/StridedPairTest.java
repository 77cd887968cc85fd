package io.kinema.cuda.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import io.kinema.compute.Tensor;
import org.junit.jupiter.api.Test;

/** Axes of pairs of views, and the larger pieces that they may be moved in. */
class StridedPairTest {
    private static Tensor tensor(long... dims) {
        long count = 1;
        for (long d : dims) {
            count *= d;
        }
        return Tensor.ofFloats(new float[Math.toIntExact(count)], dims);
    }

    @Test
    void wholeRowsOfAStripAreMovedInPieces() {
        Tensor strip = tensor(3, 5, 24).slice(2, 8, 20);
        StridedPair pieces = StridedPair.of(strip, tensor(3, 5, 12)).pieces(4).orElseThrow();
        assertThat(pieces.sizes()).containsExactly(15, 3);
        assertThat(pieces.a()).containsExactly(6, 1);
        assertThat(pieces.b()).containsExactly(3, 1);
    }

    @Test
    void aPermutationThatKeepsTheInnermostAxisIsMovedInPieces() {
        StridedPair pieces = StridedPair.of(tensor(4, 6, 8).permute(1, 0, 2), tensor(6, 4, 8)).pieces(4).orElseThrow();
        assertThat(pieces.sizes()).containsExactly(6, 4, 2);
        assertThat(pieces.a()).containsExactly(2, 12, 1);
        assertThat(pieces.b()).containsExactly(8, 2, 1);
    }

    @Test
    void onePieceIsEnough() {
        StridedPair pieces = StridedPair.of(tensor(5, 8).slice(1, 0, 4), tensor(5, 4)).pieces(4).orElseThrow();
        assertThat(pieces.sizes()).containsExactly(5, 1);
        assertThat(pieces.a()).containsExactly(2, 1);
    }

    @Test
    void whatIsNotMadeOfPiecesIsNotMovedInThem() {
        assertThat(StridedPair.of(tensor(6, 8).permute(1, 0), tensor(8, 6)).pieces(2)).as("innermost axis not contiguous").isEmpty();
        assertThat(StridedPair.of(tensor(5, 8).slice(1, 0, 6), tensor(5, 6)).pieces(4)).as("half a piece left").isEmpty();
        assertThat(StridedPair.of(tensor(5, 10).slice(1, 0, 8), tensor(5, 8)).pieces(4)).as("rows at odd places").isEmpty();
        assertThat(StridedPair.of(tensor(1), tensor(1)).pieces(4)).as("a single element").isEmpty();
    }
}
