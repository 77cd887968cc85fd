package io.kinema.quality.report;

import io.kinema.media.image.RgbImage;
import io.kinema.quality.sound.Spectrogram;

/** Spectrograms as pictures: time to the right, frequency upwards, brighter is louder. */
final class SpectrogramPicture {
    /** The quietest power that is not black, in dB. */
    static final int QUIETEST = -100;
    /** The difference of power that is brightest, in dB. */
    static final int MOST_APART = 24;
    /** Dark blue over violet and orange to pale yellow: its lightness grows evenly, in colour vision of every kind. */
    private static final int[] COLOURS = {0x000004, 0x1b0c41, 0x4a0c6b, 0x781c6d, 0xa52c60, 0xcf4446, 0xed6925, 0xfb9b06, 0xf7d13d, 0xfcffa4};

    /** Brightness of one place, 0 to 1. */
    private interface Shade {
        double at(int column, int row);
    }

    private SpectrogramPicture() {
    }

    static RgbImage of(Spectrogram power) {
        return paint(power.columns(), power.rows(), (column, row) -> 1 - power.at(column, row) / QUIETEST);
    }

    /** |difference| in dB of two spectrograms of one size; what is quieter than {@link #QUIETEST} counts as that. */
    static RgbImage difference(Spectrogram a, Spectrogram b) {
        return paint(b.columns(), b.rows(), (column, row) -> Math.abs(Math.max(QUIETEST, a.at(column, row)) - Math.max(QUIETEST, b.at(column, row))) / MOST_APART);
    }

    private static RgbImage paint(int columns, int rows, Shade shade) {
        RgbImage out = RgbImage.black(columns, rows);
        for (int row = 0; row < rows; row++) {
            for (int column = 0; column < columns; column++) {
                int rgb = colour(shade.at(column, row));
                int i = ((rows - 1 - row) * columns + column) * RgbImage.CHANNELS;
                out.rgb()[i] = (byte) (rgb >> 16);
                out.rgb()[i + 1] = (byte) (rgb >> 8);
                out.rgb()[i + 2] = (byte) rgb;
            }
        }
        return out;
    }

    private static int colour(double shade) {
        double place = Math.clamp(shade, 0, 1) * (COLOURS.length - 1);
        int below = Math.min(COLOURS.length - 2, (int) place);
        int rgb = 0;
        for (int shift = 16; shift >= 0; shift -= 8) {
            double low = COLOURS[below] >> shift & 0xff;
            double high = COLOURS[below + 1] >> shift & 0xff;
            rgb |= (int) Math.round(low + (high - low) * (place - below)) << shift;
        }
        return rgb;
    }
}
