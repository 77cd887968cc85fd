package io.kinema.quality.picture;

import static org.assertj.core.api.Assertions.assertThat;

import io.kinema.media.image.RgbImage;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

class FrameShiftTest {
    private static final int FRAMES = 60;

    @Property(tries = 12)
    void findsByHowManyFramesACandidateIsLate(@ForAll @IntRange(min = -8, max = 8) int late) {
        FrameShift shift = new FrameShift();
        for (int t = 0; t < FRAMES; t++) {
            shift.addReference(FrameShift.grid(moving(t)));
            shift.addCandidate(FrameShift.grid(moving(t - late)));
        }
        assertThat(shift.in(0, FRAMES)).hasValue(late);
    }

    @Test
    void aRepeatedFrameShiftsWhatFollows() {
        FrameShift shift = new FrameShift();
        for (int t = 0; t < FRAMES; t++) {
            shift.addReference(FrameShift.grid(moving(t)));
            shift.addCandidate(FrameShift.grid(moving(t < 30 ? t : t - 2)));
        }
        assertThat(shift.in(0, 20)).hasValue(0);
        assertThat(shift.in(40, FRAMES)).hasValue(2);
    }

    @Test
    void whatStandsStillHasNoShift() {
        FrameShift shift = new FrameShift();
        for (int t = 0; t < FRAMES; t++) {
            shift.addReference(FrameShift.grid(moving(3)));
            shift.addCandidate(FrameShift.grid(moving(t)));
        }
        assertThat(shift.in(0, FRAMES)).isEmpty();
        assertThat(shift.in(0, 2)).isEmpty();
        assertThat(new FrameShift().in(0, 5)).isEmpty();
    }

    @Test
    void repeatsAreFaultsInAClipThatMovesOnly() {
        RepeatDetector moving = new RepeatDetector();
        RepeatDetector still = new RepeatDetector();
        for (int t = 0; t < 10; t++) {
            moving.add(moving(t == 5 ? 4 : t));
            still.add(moving(0));
        }
        assertThat(moving.repeats()).containsExactly(5);
        assertThat(moving.isConstant()).isFalse();
        assertThat(still.repeats()).isEmpty();
        assertThat(still.isConstant()).isTrue();
        assertThat(new RepeatDetector().isConstant()).isFalse();
    }

    /** Something that never looks the same twice. */
    private static RgbImage moving(int t) {
        double place = 48 + 40 * Math.sin(0.05 * t) + 0.4 * t;
        return Pictures.paint(96, 54, (x, y, c) -> 30 + 200 * Math.exp(-(x - place) * (x - place) / 200) + y * Math.cos(0.09 * t));
    }
}
