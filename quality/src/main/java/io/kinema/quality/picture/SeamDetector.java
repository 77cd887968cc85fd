package io.kinema.quality.picture;

import io.kinema.media.image.RgbImage;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

/**
 * Scores tile seams: lines, straight through the picture and at the same place in all frames, at which luma jumps.
 *
 * <p>The bend of a boundary between two columns is |step across it less the mean of the steps on its two sides|: 0 on any slope. It is
 * averaged over the frames and the rows of each of {@value #BANDS} horizontal bands, less the same of the boundaries two to four away, which
 * texture and noise have as well. A boundary's score is the second smallest of its bands, so that an edge of a thing in the picture, which
 * rarely runs from top to bottom, does not count. A seam scores at least {@value #FLOOR} levels, more than its neighbours, and
 * {@value #RATIO} times what one boundary in fifty reaches: a finer grid than that is a codec's blocks or a decoder's patches, not tiles.
 * Rows likewise. Bars (letterbox, pillarbox: rows or columns from the border inwards whose luma varies by less than {@value #BAR} levels over
 * all frames) and {@value #MARGIN} pixels beside them are not judged. Keeps numbers, not frames. For one thread.
 */
public final class SeamDetector {
    private static final int BANDS = 8;
    private static final double FLOOR = 1.5;
    private static final double RATIO = 2.5;
    private static final double ONE_IN_FIFTY = 0.98;
    /** Boundaries beside one that tell what is usual there: from the first that a step at the one does not touch. */
    private static final int NEAREST = 2;
    private static final int FARTHEST = 4;
    /** Pixels next to the border that are not judged: those boundaries are missing, and codecs smear there. */
    private static final int MARGIN = 6;
    /** Standard deviation in luma levels. */
    private static final double BAR = 3;

    private final int width;
    private final int height;
    private final double[][] columns;
    private final double[][] rows;
    private final Spread columnLuma;
    private final Spread rowLuma;
    private int frames;

    /** For frames of one size. */
    public SeamDetector(int width, int height) {
        this.width = width;
        this.height = height;
        this.columns = new double[BANDS][width];
        this.rows = new double[BANDS][height];
        this.columnLuma = new Spread(width);
        this.rowLuma = new Spread(height);
    }

    /** Takes the next frame. @throws IllegalArgumentException for one of another size */
    public void add(RgbImage frame) {
        if (frame.width() != width || frame.height() != height) {
            throw new IllegalArgumentException("seams: got a frame of " + frame + ", expected " + width + "x" + height);
        }
        float[] luma = luma(frame);
        for (int y = 0; y < height; y++) {
            double[] sums = columns[(int) ((long) y * BANDS / height)];
            for (int x = 2; x < width - 1; x++) {
                sums[x] += bend(luma, y * width + x, 1);
            }
            for (int x = 0; x < width; x++) {
                columnLuma.add(x, luma[y * width + x]);
                rowLuma.add(y, luma[y * width + x]);
            }
        }
        for (int y = 2; y < height - 1; y++) {
            for (int x = 0; x < width; x++) {
                rows[(int) ((long) x * BANDS / width)][y] += bend(luma, y * width + x, width);
            }
        }
        frames++;
    }

    private static float[] luma(RgbImage frame) {
        byte[] rgb = frame.rgb();
        float[] luma = new float[frame.width() * frame.height()];
        for (int i = 0; i < luma.length; i++) {
            luma[i] = (float) LumaGrid.luma(rgb, i * RgbImage.CHANNELS);
        }
        return luma;
    }

    /** Of the boundary just before pixel {@code i}, along pixels {@code stride} apart. */
    private static float bend(float[] luma, int i, int stride) {
        float across = luma[i] - luma[i - stride];
        float before = luma[i - stride] - luma[i - 2 * stride];
        float after = luma[i + stride] - luma[i];
        return Math.abs(across - (before + after) / 2);
    }

    /** The seams of all frames so far, the strongest first. */
    public List<Seam> seams() {
        List<Seam> found = new ArrayList<>();
        collect(Seam.Axis.VERTICAL, scores(columns, columnLuma, height), found);
        collect(Seam.Axis.HORIZONTAL, scores(rows, rowLuma, width), found);
        found.sort(Comparator.comparingDouble(Seam::levels).reversed());
        return List.copyOf(found);
    }

    /** The highest score of any boundary, a seam or not; 0 when no line stands out at all. */
    public double score() {
        double vertical = Arrays.stream(scores(columns, columnLuma, height).values()).max().orElse(0);
        double horizontal = Arrays.stream(scores(rows, rowLuma, width).values()).max().orElse(0);
        return Math.max(0, Math.max(vertical, horizontal));
    }

    private static void collect(Seam.Axis axis, Scores scores, List<Seam> found) {
        double[] values = scores.values();
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        double floor = values.length == 0 ? 0 : Math.max(FLOOR, RATIO * sorted[(int) (ONE_IN_FIFTY * (sorted.length - 1))]);
        for (int i = 0; i < values.length; i++) {
            boolean peak = (i == 0 || values[i] >= values[i - 1]) && (i == values.length - 1 || values[i] > values[i + 1]);
            if (peak && values[i] >= floor) {
                found.add(new Seam(axis, scores.first() + i, values[i]));
            }
        }
    }

    /** Of the boundaries that are judged, from the first on. */
    private record Scores(int first, double[] values) {
    }

    private Scores scores(double[][] sums, Spread luma, int across) {
        int first = luma.barAtStart() + MARGIN;
        int end = luma.size() - luma.barAtEnd() - MARGIN;
        if (frames == 0 || across < BANDS || end <= first) {
            return new Scores(first, new double[0]);
        }
        double[] scores = new double[end - first];
        double[] bands = new double[BANDS];
        double pixels = (double) across * frames / BANDS;
        for (int i = 0; i < scores.length; i++) {
            for (int b = 0; b < BANDS; b++) {
                bands[b] = excess(sums[b], first + i) / pixels;
            }
            Arrays.sort(bands);
            scores[i] = bands[1];
        }
        return new Scores(first, scores);
    }

    /** A boundary's bend over the mean of those near it. */
    private static double excess(double[] bends, int at) {
        double near = 0;
        for (int d = NEAREST; d <= FARTHEST; d++) {
            near += bends[at - d] + bends[at + d];
        }
        return bends[at] - near / (2 * (FARTHEST - NEAREST + 1));
    }

    /** How much the luma of each row or column varies over all its pixels and frames. */
    private static final class Spread {
        private final double[] sums;
        private final double[] squares;
        private final long[] counts;

        Spread(int size) {
            sums = new double[size];
            squares = new double[size];
            counts = new long[size];
        }

        int size() {
            return sums.length;
        }

        void add(int line, double luma) {
            sums[line] += luma;
            squares[line] += luma * luma;
            counts[line]++;
        }

        private boolean isBar(int line) {
            double mean = sums[line] / counts[line];
            return squares[line] / counts[line] - mean * mean < BAR * BAR;
        }

        int barAtStart() {
            int n = 0;
            while (n < sums.length && counts[n] > 0 && isBar(n)) {
                n++;
            }
            return n;
        }

        int barAtEnd() {
            int n = 0;
            while (n < sums.length && counts[sums.length - 1 - n] > 0 && isBar(sums.length - 1 - n)) {
                n++;
            }
            return n;
        }
    }
}
