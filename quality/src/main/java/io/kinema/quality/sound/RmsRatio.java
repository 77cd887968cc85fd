package io.kinema.quality.sound;

import io.kinema.media.audio.Sound;
import java.util.ArrayList;
import java.util.List;

/**
 * Root mean square of a candidate over that of its reference, in float64. Silence (an RMS below 1e-8) on both sides counts as 1;
 * a candidate's sound against silence is infinite, silence against sound 0.
 *
 * @param channels of each channel
 * @param joint    of all channels together
 */
public record RmsRatio(List<Double> channels, double joint) {
    private static final double SILENCE = 1e-8;

    public RmsRatio {
        channels = List.copyOf(channels);
    }

    /** @throws IllegalArgumentException when rates, channels or lengths differ */
    public static RmsRatio of(Sound candidate, Sound reference) {
        SoundPair.requireAlike(candidate, reference);
        List<Double> channels = new ArrayList<>();
        double a = 0;
        double b = 0;
        for (int c = 0; c < reference.channelCount(); c++) {
            double x = Levels.energy(candidate.channel(c));
            double y = Levels.energy(reference.channel(c));
            channels.add(ratio(x, y, reference.length()));
            a += x;
            b += y;
        }
        return new RmsRatio(channels, ratio(a, b, (long) reference.length() * reference.channelCount()));
    }

    /** Of the joint ratio and the channels', the one farthest from 1: what the gate holds. */
    public double farthest() {
        double farthest = joint;
        for (double ratio : channels) {
            if (!(Math.abs(ratio - 1) <= Math.abs(farthest - 1)) && !Double.isNaN(farthest)) {
                farthest = ratio;
            }
        }
        return farthest;
    }

    private static double ratio(double a, double b, long samples) {
        double x = Math.sqrt(a / Math.max(1, samples));
        double y = Math.sqrt(b / Math.max(1, samples));
        return x < SILENCE && y < SILENCE ? 1 : y < SILENCE ? Double.POSITIVE_INFINITY : x / y;
    }
}
