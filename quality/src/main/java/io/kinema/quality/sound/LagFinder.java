package io.kinema.quality.sound;

import io.kinema.media.audio.Sound;
import java.util.Arrays;
import java.util.Optional;

/**
 * Finds the lag between two sounds of one rate by cross-correlation of their channels' mean, through the Fourier transform.
 *
 * <p>The lag is the one of largest correlation within the range, refined by a parabola through its neighbours; of peaks within 0.1%
 * of the largest, as steady tones have, the one nearest to no lag.
 */
public final class LagFinder {
    private static final double SILENCE = 1e-6;
    private static final double TIE = 0.999;

    private final int sampleRate;
    private final int reach;

    /** @param sampleRate of both sounds @param mostSeconds largest lag either way, above 0 */
    public LagFinder(int sampleRate, double mostSeconds) {
        this.sampleRate = sampleRate;
        this.reach = Math.max(1, (int) Math.round(mostSeconds * sampleRate));
    }

    /**
     * The lag of the candidate in the samples {@code [from, from + count)} of both; empty when one is silent there.
     *
     * @throws IllegalArgumentException when the rates differ from this finder's
     */
    public Optional<Lag> find(Sound candidate, Sound reference, int from, int count) {
        if (candidate.sampleRate() != sampleRate || reference.sampleRate() != sampleRate) {
            throw new IllegalArgumentException("lag: got sounds at " + candidate.sampleRate() + " and " + reference.sampleRate()
                    + " Hz, expected " + sampleRate + " Hz");
        }
        double[] a = mono(candidate, from, count);
        double[] b = mono(reference, from, count);
        double norm = Math.sqrt(energy(a) * energy(b));
        if (!(norm > SILENCE)) {
            return Optional.empty();
        }
        double[] correlation = correlate(a, b);
        int best = best(correlation);
        double shift = best - reach + vertex(correlation, best);
        return Optional.of(new Lag(shift / sampleRate, Math.clamp(correlation[best] / norm, -1, 1)));
    }

    private static double[] mono(Sound sound, int from, int count) {
        double[] out = new double[count];
        int end = Math.min(count, sound.length() - from);
        for (int c = 0; c < sound.channelCount(); c++) {
            float[] x = sound.channel(c);
            for (int i = Math.max(0, -from); i < end; i++) {
                out[i] += (double) x[from + i] / sound.channelCount();
            }
        }
        return out;
    }

    private static double energy(double[] x) {
        double sum = 0;
        for (double v : x) {
            sum += v * v;
        }
        return sum;
    }

    /** Entry {@code reach + k} is the sum of a[n + k] b[n]. */
    private double[] correlate(double[] a, double[] b) {
        int size = Math.max(2, Integer.highestOneBit(a.length + 2 * reach - 1) << 1);
        Fft fft = new Fft(size);
        double[] aRe = Arrays.copyOf(a, size);
        double[] aIm = new double[size];
        double[] bRe = Arrays.copyOf(b, size);
        double[] bIm = new double[size];
        fft.forward(aRe, aIm);
        fft.forward(bRe, bIm);
        for (int k = 0; k < size; k++) {
            double re = aRe[k] * bRe[k] + aIm[k] * bIm[k];
            double im = aIm[k] * bRe[k] - aRe[k] * bIm[k];
            aRe[k] = re;
            // The inverse transform is the conjugate of the forward transform of the conjugate; the result is real.
            aIm[k] = -im;
        }
        fft.forward(aRe, aIm);
        double[] out = new double[2 * reach + 1];
        for (int k = -reach; k <= reach; k++) {
            out[reach + k] = aRe[Math.floorMod(k, size)] / size;
        }
        return out;
    }

    private int best(double[] correlation) {
        double most = Double.NEGATIVE_INFINITY;
        for (double value : correlation) {
            most = Math.max(most, value);
        }
        int best = -1;
        for (int i = 0; i < correlation.length; i++) {
            boolean peak = correlation[i] >= (most > 0 ? TIE * most : most) && isPeak(correlation, i);
            if (peak && (best < 0 || Math.abs(i - reach) < Math.abs(best - reach))) {
                best = i;
            }
        }
        return best < 0 ? reach : best;
    }

    private static boolean isPeak(double[] x, int i) {
        return (i == 0 || x[i] >= x[i - 1]) && (i == x.length - 1 || x[i] >= x[i + 1]);
    }

    private static double vertex(double[] x, int i) {
        if (i == 0 || i == x.length - 1) {
            return 0;
        }
        double curve = x[i - 1] - 2 * x[i] + x[i + 1];
        return curve >= 0 ? 0 : Math.clamp((x[i - 1] - x[i + 1]) / (2 * curve), -0.5, 0.5);
    }
}
