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
        double[] sums = sumsOfSquares(x);
        List<Click> found = new ArrayList<>();
        for (int i = 1; i + 1 < x.length; i++) {
            double jump = Math.abs(bend(x, i));
            if (jump < FLOOR) {
                continue;
            }
            double ratio = jump / rms(sums, i, far);
            if (ratio >= FAR_RATIO && jump >= NEAR_RATIO * rms(sums, i, near)) {
                add(found, new Click(channel, i, jump, ratio));
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

    /** Entry i is the sum of the squared second differences of samples 0 to i - 1. */
    private static double[] sumsOfSquares(float[] x) {
        double[] sums = new double[x.length + 1];
        for (int i = 0; i < x.length; i++) {
            double bend = i == 0 || i + 1 == x.length ? 0 : bend(x, i);
            sums[i + 1] = sums[i] + bend * bend;
        }
        return sums;
    }

    private static double bend(float[] x, int i) {
        double bend = (double) x[i + 1] - 2.0 * x[i] + x[i - 1];
        return Double.isFinite(bend) ? bend : 0;
    }

    /** The larger root mean square of the two stretches of {@code length} beside sample {@code i}; 0 where nothing is. */
    private static double rms(double[] sums, int i, int length) {
        return Math.max(between(sums, i - GUARD - length, i - GUARD), between(sums, i + GUARD + 1, i + GUARD + 1 + length));
    }

    private static double between(double[] sums, int from, int to) {
        int first = Math.max(0, from);
        int end = Math.min(sums.length - 1, to);
        return end <= first ? 0 : Math.sqrt(Math.max(0, sums[end] - sums[first]) / (end - first));
    }
}
