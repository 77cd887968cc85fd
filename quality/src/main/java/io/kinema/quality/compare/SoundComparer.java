package io.kinema.quality.compare;

import io.kinema.media.audio.SincResampler;
import io.kinema.media.audio.Sound;
import io.kinema.quality.sound.ClickDetector;
import io.kinema.quality.sound.Levels;
import io.kinema.quality.sound.RmsRatio;
import io.kinema.quality.sound.SpectralCosine;
import java.util.Arrays;

/** Compares two sounds once they are of one rate, layout and length. */
final class SoundComparer {
    /** Lossy decoders keep up to this many samples of padding at the end. */
    private static final int CODEC_PADDING = 2048;

    private SoundComparer() {
    }

    static SoundComparison compare(SoundInput candidate, SoundInput reference, Differences differences) {
        Sound a = oneRate(candidate.sound(), reference.sound().sampleRate(), differences);
        Sound b = reference.sound();
        if (a.channelCount() != b.channelCount()) {
            differences.differ("The candidate's sound has " + a.channelCount() + " channels and the reference's " + b.channelCount(), "the mean of each was compared");
            a = mean(a);
            b = mean(b);
        }
        if (a.length() != b.length()) {
            describeLengths(a, b, candidate.lossy() || reference.lossy(), differences);
            int length = Math.min(a.length(), b.length());
            a = first(a, length);
            b = first(b, length);
        }
        return new SoundComparison(candidate.text(), reference.text(), SpectralCosine.of(a, b), RmsRatio.of(a, b), differing(a, b), faults(a), faults(b), a, b);
    }

    private static Sound oneRate(Sound sound, int rate, Differences differences) {
        if (sound.sampleRate() == rate) {
            return sound;
        }
        differences.differ("The candidate's sound has " + sound.sampleRate() + " Hz and the reference's " + rate + " Hz",
                "the candidate's was resampled to " + rate + " Hz");
        return new SincResampler(sound.sampleRate(), rate).resample(sound);
    }

    private static void describeLengths(Sound a, Sound b, boolean lossy, Differences differences) {
        String what = "The candidate's sound has " + a.length() + " samples and the reference's " + b.length();
        String instead = "the first " + Math.min(a.length(), b.length()) + " of each were compared";
        if (lossy && Math.abs(a.length() - b.length()) <= CODEC_PADDING) {
            differences.note(what + ", as codecs pad: " + instead);
        } else {
            differences.differ(what, instead);
        }
    }

    private static Faults.Sound faults(Sound sound) {
        return new Faults.Sound(Levels.of(sound), ClickDetector.find(sound));
    }

    private static Sound mean(Sound sound) {
        float[] out = new float[sound.length()];
        for (int i = 0; i < out.length; i++) {
            double sum = 0;
            for (int c = 0; c < sound.channelCount(); c++) {
                sum += sound.channel(c)[i];
            }
            out[i] = (float) (sum / sound.channelCount());
        }
        return new Sound(sound.sampleRate(), new float[][] {out});
    }

    private static Sound first(Sound sound, int length) {
        float[][] channels = new float[sound.channelCount()][];
        for (int c = 0; c < channels.length; c++) {
            channels[c] = sound.length() == length ? sound.channel(c) : Arrays.copyOf(sound.channel(c), length);
        }
        return new Sound(sound.sampleRate(), channels);
    }

    private static long differing(Sound a, Sound b) {
        long count = 0;
        for (int c = 0; c < a.channelCount(); c++) {
            float[] x = a.channel(c);
            float[] y = b.channel(c);
            for (int i = 0; i < x.length; i++) {
                count += Float.floatToRawIntBits(x[i]) == Float.floatToRawIntBits(y[i]) ? 0 : 1;
            }
        }
        return count;
    }
}
