package io.kinema.engine.record;

import io.kinema.media.audio.Sound;
import io.kinema.quality.sound.ClickDetector;
import io.kinema.quality.sound.Levels;
import io.kinema.quality.sound.Loudness;

/**
 * What is measurable about a clip's sound without a reference.
 *
 * @param samples         per channel
 * @param sampleRate      Hz
 * @param peak            largest magnitude
 * @param rms             root mean square of both channels
 * @param fullScale       samples of both channels at full scale (magnitude at least 32767/32768)
 * @param clicks          sudden jumps of both channels, see {@link ClickDetector}
 * @param loudnessLufs    integrated loudness by ITU-R BS.1770-4; negative infinity for silence or less than 0.4 s
 */
public record SoundReport(int samples, int sampleRate, double peak, double rms, long fullScale, int clicks, double loudnessLufs) {
    /** Measures left and right, samples in [-1, 1]. */
    public static SoundReport of(float[] left, float[] right, int sampleRate) {
        Sound sound = new Sound(sampleRate, new float[][] {left, right});
        Levels levels = Levels.of(sound);
        return new SoundReport(sound.length(), sampleRate, levels.peak(), levels.rms(), levels.fullScale(), ClickDetector.find(sound).size(), Loudness.integrated(sound));
    }

    /** Full-scale samples over all samples. */
    public double fullScaleShare() {
        return samples == 0 ? 0 : fullScale / (2.0 * samples);
    }

    /** True when more than 0.1% of the samples are at full scale. */
    public boolean clipped() {
        return fullScaleShare() > Levels.CLIPPED_SHARE;
    }
}
