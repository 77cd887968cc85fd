package io.kinema.serve.preview;

import io.kinema.media.image.PillowLanczos;
import io.kinema.media.image.RgbImage;
import java.util.Optional;

/**
 * Colours for latents: the affine map from a cell's channels to the mean colour of its pixels that fits finished clips best (least squares
 * with a small ridge, so that one clip is enough to begin with). One thread learns; once that is over, any number may draw.
 */
public final class LatentColours {
    /** Keeps channels that the clips so far do not move from being guessed at. */
    private static final double RIDGE = 1e-2;

    private final int unknowns;
    private final double[][] left;
    private final double[][] right;
    private long cells;

    /** @param channels of a cell */
    public LatentColours(int channels) {
        this.unknowns = channels + 1;
        this.left = new double[unknowns][unknowns];
        this.right = new double[unknowns][RgbImage.CHANNELS];
    }

    /** Adds a frame and the picture that it was decoded to. */
    public void learn(LatentFrame frame, RgbImage picture) {
        byte[] means = PillowLanczos.resize(picture, frame.width(), frame.height()).rgb();
        double[] cell = new double[unknowns];
        for (int i = 0; i < frame.cells(); i++) {
            fill(cell, frame, i);
            for (int a = 0; a < unknowns; a++) {
                for (int b = 0; b < unknowns; b++) {
                    left[a][b] += cell[a] * cell[b];
                }
                for (int c = 0; c < RgbImage.CHANNELS; c++) {
                    right[a][c] += cell[a] * (means[i * RgbImage.CHANNELS + c] & 0xff);
                }
            }
        }
        cells += frame.cells();
    }

    /** A picture with a pixel for each cell; empty before anything was learned, or when the frame has other channels. */
    public Optional<RgbImage> picture(LatentFrame frame) {
        if (cells == 0 || frame.channels() + 1 != unknowns) {
            return Optional.empty();
        }
        double[][] weights = solve();
        byte[] rgb = new byte[frame.cells() * RgbImage.CHANNELS];
        double[] cell = new double[unknowns];
        for (int i = 0; i < frame.cells(); i++) {
            fill(cell, frame, i);
            for (int c = 0; c < RgbImage.CHANNELS; c++) {
                double value = 0;
                for (int a = 0; a < unknowns; a++) {
                    value += weights[a][c] * cell[a];
                }
                rgb[i * RgbImage.CHANNELS + c] = (byte) Math.clamp(Math.round(value), 0, 255);
            }
        }
        return Optional.of(new RgbImage(frame.width(), frame.height(), rgb));
    }

    private static void fill(double[] cell, LatentFrame frame, int index) {
        for (int channel = 0; channel < frame.channels(); channel++) {
            cell[channel] = frame.at(channel, index);
        }
        cell[frame.channels()] = 1;
    }

    /** Cholesky: the matrix is symmetric, and positive definite by the ridge. The constant is not held back. */
    private double[][] solve() {
        double[][] factor = new double[unknowns][unknowns];
        for (int i = 0; i < unknowns; i++) {
            for (int j = 0; j <= i; j++) {
                double sum = left[i][j] + (i == j && i < unknowns - 1 ? RIDGE * cells : 0);
                for (int k = 0; k < j; k++) {
                    sum -= factor[i][k] * factor[j][k];
                }
                factor[i][j] = i == j ? Math.sqrt(Math.max(sum, 1e-12)) : sum / factor[j][j];
            }
        }
        double[][] solution = new double[unknowns][RgbImage.CHANNELS];
        for (int c = 0; c < RgbImage.CHANNELS; c++) {
            for (int i = 0; i < unknowns; i++) {
                double sum = right[i][c];
                for (int k = 0; k < i; k++) {
                    sum -= factor[i][k] * solution[k][c];
                }
                solution[i][c] = sum / factor[i][i];
            }
            for (int i = unknowns - 1; i >= 0; i--) {
                double sum = solution[i][c];
                for (int k = i + 1; k < unknowns; k++) {
                    sum -= factor[k][i] * solution[k][c];
                }
                solution[i][c] = sum / factor[i][i];
            }
        }
        return solution;
    }

    /** A grey picture of a frame whose colours are not known: the length of each cell's vector, from the shortest to the longest. */
    public static RgbImage grey(LatentFrame frame) {
        double[] lengths = new double[frame.cells()];
        double least = Double.MAX_VALUE;
        double most = 0;
        for (int i = 0; i < lengths.length; i++) {
            double square = 0;
            for (int channel = 0; channel < frame.channels(); channel++) {
                square += (double) frame.at(channel, i) * frame.at(channel, i);
            }
            lengths[i] = Math.sqrt(square);
            least = Math.min(least, lengths[i]);
            most = Math.max(most, lengths[i]);
        }
        byte[] rgb = new byte[lengths.length * RgbImage.CHANNELS];
        for (int i = 0; i < rgb.length; i++) {
            rgb[i] = (byte) Math.round(255 * (lengths[i / RgbImage.CHANNELS] - least) / Math.max(most - least, 1e-9));
        }
        return new RgbImage(frame.width(), frame.height(), rgb);
    }
}
