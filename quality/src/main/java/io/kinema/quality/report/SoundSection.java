package io.kinema.quality.report;

import io.kinema.quality.compare.SoundComparison;
import io.kinema.quality.sound.Spectrogram;

/** Waveforms and spectrograms of both sounds. */
final class SoundSection {
    private static final int COLUMNS = 900;
    private static final int ROWS = 256;

    private SoundSection() {
    }

    static void append(SoundComparison sound, StringBuilder out) {
        double peak = Math.max(sound.candidate().levels().peak(), sound.reference().levels().peak());
        double scale = Math.clamp(peak, 1e-4, 1);
        out.append("<section>\n<h2>Sound</h2>\n");
        figure(WaveformChart.svg("wave-a", "Waveform of the candidate", sound.candidateSound(), scale, sound.candidate().clicks()), "candidate, waveform", out);
        figure(WaveformChart.svg("wave-b", "Waveform of the reference", sound.referenceSound(), scale, sound.reference().clicks()), "reference, waveform on the same scale", out);
        Spectrogram a = Spectrogram.of(sound.candidateSound(), COLUMNS, ROWS);
        Spectrogram b = Spectrogram.of(sound.referenceSound(), COLUMNS, ROWS);
        String range = "0 to " + sound.referenceSound().sampleRate() / 2000.0 + " kHz from bottom to top";
        out.append("<div class=\"spectrum\">\n");
        figure(Html.picture(SpectrogramPicture.of(a), "spectrogram of the candidate"), "candidate, spectrogram: " + range + ", " + SpectrogramPicture.QUIETEST + " to 0 dB from dark to bright", out);
        figure(Html.picture(SpectrogramPicture.of(b), "spectrogram of the reference"), "reference, spectrogram", out);
        figure(Html.picture(SpectrogramPicture.difference(a, b), "difference of the spectrograms"), "difference of the two: dark is none, brightest " + SpectrogramPicture.MOST_APART + " dB and more", out);
        out.append("</div>\n</section>\n");
    }

    private static void figure(String picture, String caption, StringBuilder out) {
        out.append("<figure>").append(picture).append("<figcaption>").append(Html.escape(caption)).append("</figcaption></figure>\n");
    }
}
