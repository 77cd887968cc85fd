package io.kinema.model.dit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class DitLayoutTest {
    private static final int[] NONE = {};

    private static DitLayout layout(int[] text, int[] video, int[] audio) {
        return DitLayout.of(new double[12], new int[] {1, 0, 0, 2}, text, video, audio);
    }

    @Test
    void wantsAllVelocitiesUnlessTold() {
        DitLayout all = layout(new int[] {0}, new int[] {2, 1}, new int[] {3});
        assertThat(all.wanted()).containsExactly(2, 1, 3);
        DitLayout some = all.returning(new int[] {1}, NONE);
        assertThat(some.wanted()).containsExactly(1);
        assertThat(some.wantedVideoRows()).isEqualTo(1);
        assertThat(some.wantedAudioRows()).isZero();
        assertThat(some.videoRows()).isEqualTo(2);
    }

    @Test
    void knowsWhetherRowsAreUnclaimed() {
        assertThat(layout(new int[] {0}, new int[] {1, 2}, new int[] {3}).hasUnclaimedRows()).isFalse();
        assertThat(layout(new int[] {0}, new int[] {1}, new int[] {3}).hasUnclaimedRows()).isTrue();
    }

    @Test
    void refusesIndicesThatDoNotFit() {
        assertThatThrownBy(() -> layout(new int[] {4}, NONE, NONE)).hasMessage("layout text index: got 4, expected 0 to 3");
        assertThatThrownBy(() -> layout(NONE, new int[] {-1}, NONE)).hasMessage("layout video index: got -1, expected 0 to 3");
        assertThatThrownBy(() -> layout(new int[] {2}, NONE, new int[] {2})).hasMessageContaining("layout audio index 2: the packed row is already taken");
        assertThatThrownBy(() -> layout(NONE, new int[] {1, 2}, NONE).returning(new int[] {2}, NONE)).hasMessageContaining("wanted video row: got 2");
        assertThatThrownBy(() -> layout(NONE, new int[] {1, 2}, NONE).returning(new int[] {0, 0}, NONE)).hasMessageContaining("distinct");
    }

    @Test
    void refusesTagsAndPositionsThatDoNotFit() {
        assertThatThrownBy(() -> DitLayout.of(new double[6], new int[] {0, 3}, NONE, NONE, NONE)).hasMessageContaining("tag of row 1: got 3");
        assertThatThrownBy(() -> DitLayout.of(new double[5], new int[] {0, 1}, NONE, NONE, NONE)).hasMessageContaining("got 5 values");
    }

    @Test
    void keepsItsOwnCopies() {
        int[] video = {1, 2};
        DitLayout layout = layout(NONE, video, NONE);
        video[0] = 3;
        assertThat(layout.video()).containsExactly(1, 2);
    }
}
