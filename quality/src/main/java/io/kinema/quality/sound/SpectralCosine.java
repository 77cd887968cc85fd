package io.kinema.quality.sound;

import io.kinema.media.audio.Sound;

/**
 * Cosine similarity of two sounds' magnitude spectrograms.
 *
 * <p>The spectrogram: periodic Hann window of 2048 samples, hop 512, the first frame at sample 0, the last the first that reaches the
 * end (zeros follow), the 1025 bins from 0 to half the rate; magnitudes of all channels, frames and bins make one vector, in float64.
 * It ignores phase and overall gain: hold {@link RmsRatio} beside it. Silence (a norm below 1e-8) on both sides counts as 1, on one
 * side as 0. A sample that is NaN or infinite makes the result NaN.
 */
public final class SpectralCosine {
    /** Samples of one window. */
    public static final int WINDOW = 2048;
    /** Samples from one window to the next. */
    public static final int HOP = 512;
    private static final double SILENCE = 1e-8;

    private final Fft fft = new Fft(WINDOW);
    private final double[] hann = new double[WINDOW];
    private final double[] re = new double[WINDOW];
    private final double[] im = new double[WINDOW];
    private double product;
    private double candidateEnergy;
    private double referenceEnergy;

    private SpectralCosine() {
        for (int i = 0; i < WINDOW; i++) {
            hann[i] = 0.5 - 0.5 * Math.cos(2 * Math.PI * i / WINDOW);
        }
    }

    /** 0 to 1, or NaN. @throws IllegalArgumentException when rates, channels or lengths differ */
    public static double of(Sound candidate, Sound reference) {
        SoundPair.requireAlike(candidate, reference);
        SpectralCosine cosine = new SpectralCosine();
        for (int c = 0; c < reference.channelCount(); c++) {
            for (int from = 0; from == 0 || from + WINDOW - HOP < reference.length(); from += HOP) {
                cosine.frame(candidate.channel(c), reference.channel(c), from);
            }
        }
        return cosine.value();
    }

    /** One transform gives both spectra: the candidate goes in as real part, the reference as imaginary part. */
    private void frame(float[] candidate, float[] reference, int from) {
        for (int i = 0; i < WINDOW; i++) {
            boolean inside = from + i < reference.length;
            re[i] = inside ? hann[i] * candidate[from + i] : 0;
            im[i] = inside ? hann[i] * reference[from + i] : 0;
        }
        fft.forward(re, im);
        for (int k = 0; k <= WINDOW / 2; k++) {
            int mirror = (WINDOW - k) % WINDOW;
            double a = 0.5 * Math.hypot(re[k] + re[mirror], im[k] - im[mirror]);
            double b = 0.5 * Math.hypot(im[k] + im[mirror], re[k] - re[mirror]);
            product += a * b;
            candidateEnergy += a * a;
            referenceEnergy += b * b;
        }
    }

    private double value() {
        boolean silentCandidate = Math.sqrt(candidateEnergy) < SILENCE;
        boolean silentReference = Math.sqrt(referenceEnergy) < SILENCE;
        if (silentCandidate || silentReference) {
            return silentCandidate && silentReference ? 1 : 0;
        }
        // Rounding may leave equal sounds an ulp above what a cosine can be.
        return Math.min(1, product / Math.sqrt(candidateEnergy * referenceEnergy));
    }
}
