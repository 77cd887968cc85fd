package io.kinema.quality.sound;

import io.kinema.media.audio.Sound;
import java.util.Arrays;

/**
 * A sound's power over time and frequency, for pictures: Hann windows of 2048 samples at equal distances, the mean over the channels,
 * bins gathered into rows by their largest power.
 */
public final class Spectrogram {
    private static final double FLOOR_DB = -120;
    private static final int WINDOW = SpectralCosine.WINDOW;

    private final int columns;
    private final int rows;
    private final float[] decibels;

    private Spectrogram(int columns, int rows, float[] decibels) {
        this.columns = columns;
        this.rows = rows;
        this.decibels = decibels;
    }

    /**
     * @param mostColumns windows at most; fewer for a short sound, one for each {@link SpectralCosine#HOP} samples
     * @param rows        of frequency, 1 to 1024
     */
    public static Spectrogram of(Sound sound, int mostColumns, int rows) {
        int columns = Math.clamp(sound.length() / SpectralCosine.HOP, 1, mostColumns);
        float[] decibels = new float[columns * rows];
        Fft fft = new Fft(WINDOW);
        double[] power = new double[WINDOW / 2];
        for (int column = 0; column < columns; column++) {
            int centre = (int) ((column + 0.5) * sound.length() / columns);
            power(sound, centre - WINDOW / 2, fft, power);
            for (int row = 0; row < rows; row++) {
                int from = row * power.length / rows;
                double most = 0;
                for (int k = from; k < Math.max(from + 1, (row + 1) * power.length / rows); k++) {
                    most = Math.max(most, power[k]);
                }
                decibels[row * columns + column] = (float) Math.max(FLOOR_DB, 10 * Math.log10(most));
            }
        }
        return new Spectrogram(columns, rows, decibels);
    }

    private static void power(Sound sound, int from, Fft fft, double[] power) {
        Arrays.fill(power, 0);
        for (int c = 0; c < sound.channelCount(); c++) {
            double[] re = new double[WINDOW];
            double[] im = new double[WINDOW];
            for (int i = 0; i < WINDOW; i++) {
                int at = from + i;
                boolean inside = at >= 0 && at < sound.length() && Float.isFinite(sound.channel(c)[at]);
                re[i] = inside ? sound.channel(c)[at] * (0.5 - 0.5 * Math.cos(2 * Math.PI * i / WINDOW)) : 0;
            }
            fft.forward(re, im);
            for (int k = 0; k < power.length; k++) {
                // A sine of full scale on a bin has power 1: the window's gain is a half, and half of a sine is at the negative frequency.
                power[k] += (re[k] * re[k] + im[k] * im[k]) * 16 / ((double) WINDOW * WINDOW) / sound.channelCount();
            }
        }
    }

    /** Windows along time. */
    public int columns() {
        return columns;
    }

    /** Rows of frequency, the lowest first. */
    public int rows() {
        return rows;
    }

    /** Power in dB, 0 for a sine of full scale, -120 at least. */
    public double at(int column, int row) {
        return decibels[row * columns + column];
    }
}
