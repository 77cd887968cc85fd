package io.kinema.quality.sound;

import io.kinema.media.audio.Sound;
import java.util.ArrayList;
import java.util.List;

/**
 * Finds clicks: jumps of a few samples that the sound on both sides of them does not explain.
 *
 * <p>The second difference {@code x[n+1] - 2 x[n] + x[n-1]} removes what changes slowly. A click is a sample at which its magnitude is at
 * least {@value #FLOOR}, at least {@value #FAR_RATIO} times its root mean square over the 20 ms on each side, and at least {@value #NEAR_RATIO}
 * times that over the millisecond on each side; {@value #GUARD} samples next to it are left out. Asking both sides keeps the attack of a
 * note from counting, and asking the nearest millisecond keeps a clink or a clap from counting: they ring on. Jumps within 5 ms of one
 * another count once.
 */
public final class ClickDetector {
    private static final double FLOOR = 0.05;
    private static final double FAR_RATIO = 12;
    private static final double NEAR_RATIO = 6;
    private static final double FAR_SECONDS = 0.020;
    private static final double NEAR_SECONDS = 0.001;
    private static final double GAP_SECONDS = 0.005;
    private static final int GUARD = 3;
    /** Samples at a time, so that a long sound needs no second copy. */
    private static final int BLOCK = 1 << 16;

    private final int far;
    private final int near;
    private final int gap;

    private ClickDetector(int sampleRate) {
        this.far = Math.max(4, (int) (sampleRate * FAR_SECONDS));
        this.near = Math.max(4, (int) (sampleRate * NEAR_SECONDS));
        this.gap = (int) (sampleRate * GAP_SECONDS);
    }

    /** The clicks of all channels, by channel and time. Samples that are not finite count as 0. */
    public static List<Click> find(Sound sound) {
        ClickDetector detector = new ClickDetector(sound.sampleRate());
        List<Click> clicks = new ArrayList<>();
        for (int c = 0; c < sound.channelCount(); c++) {
            clicks.addAll(detector.channel(c, sound.channel(c)));
        }
        return List.copyOf(clicks);
    }

    private List<Click> channel(int channel, float[] x) {
        List<Click> found = new ArrayList<>();
        int reach = GUARD + 1 + far;
        for (int from = 1; from + 1 < x.length; from += BLOCK) {
            int to = Math.min(from + BLOCK, x.length - 1);
            Sums sums = new Sums(x, Math.max(0, from - reach), Math.min(x.length, to + reach));
            for (int i = from; i < to; i++) {
                double jump = Math.abs(bend(x, i));
                double ratio = jump < FLOOR ? 0 : jump / sums.rms(i, far);
                if (ratio >= FAR_RATIO && jump >= NEAR_RATIO * sums.rms(i, near)) {
                    add(found, new Click(channel, i, jump, ratio));
                }
            }
        }
        return found;
    }

    /** Of jumps close to one another the largest stays. */
    private void add(List<Click> found, Click click) {
        boolean same = !found.isEmpty() && click.sample() - found.getLast().sample() <= gap;
        if (!same) {
            found.add(click);
        } else if (click.jump() > found.getLast().jump()) {
            found.set(found.size() - 1, click);
        }
    }

    private static double bend(float[] x, int i) {
        double bend = (double) x[i + 1] - 2.0 * x[i] + x[i - 1];
        return Double.isFinite(bend) ? bend : 0;
    }

    /** Running sums of the squared second differences of one block and what is near it. */
    private static final class Sums {
        private final int first;
        private final double[] sums;

        Sums(float[] x, int first, int end) {
            this.first = first;
            this.sums = new double[end - first + 1];
            for (int i = first; i < end; i++) {
                double bend = i == 0 || i + 1 == x.length ? 0 : bend(x, i);
                sums[i - first + 1] = sums[i - first] + bend * bend;
            }
        }

        /** The larger root mean square of the two stretches of {@code length} beside sample {@code i}; 0 where nothing is. */
        double rms(int i, int length) {
            return Math.max(between(i - GUARD - length, i - GUARD), between(i + GUARD + 1, i + GUARD + 1 + length));
        }

        private double between(int from, int to) {
            int a = Math.max(0, from - first);
            int b = Math.min(sums.length - 1, to - first);
            return b <= a ? 0 : Math.sqrt(Math.max(0, sums[b] - sums[a]) / (b - a));
        }
    }
}
