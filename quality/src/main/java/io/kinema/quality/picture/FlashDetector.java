package io.kinema.quality.picture;

import io.kinema.media.image.RgbImage;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;

/**
 * Finds single-frame flashes: a frame, or a sixteenth of one, that is brighter or darker than both the frame before and the frame
 * after.
 *
 * <p>On a {@link LumaGrid} of 32x32 cells the excursion of a cell is how far its luma lies outside the range spanned by the same cell
 * of the two neighbouring frames: 0 through a cut, a fade or steady motion. It is averaged over the frame, and over each of 4x4
 * parts. A frame is a flash when that, less half of the neighbours' own mean difference there, is at least {@value #WHOLE} levels of the frame
 * or {@value #PART} of a part, and {@value #RATIO} times the excursion that nine in ten of the 24 frames around it stay below, so that
 * flicker and sparkle that belong to the picture do not count. The first and the last frame have one neighbour and are never judged. Keeps
 * three grids and four numbers a frame. For one thread.
 */
public final class FlashDetector {
    private static final double WHOLE = 5;
    private static final double PART = 16;
    private static final double RATIO = 3;
    private static final double QUIET = 0.5;
    private static final double NINE_IN_TEN = 0.9;
    private static final int CELLS = 32;
    private static final int PARTS = 4;
    private static final int AROUND = 12;

    private final Deque<LumaGrid> last = new ArrayDeque<>();
    private final Excursions whole = new Excursions();
    private final Excursions part = new Excursions();

    /** The grid that {@link #add} takes. */
    public static LumaGrid grid(RgbImage frame) {
        return LumaGrid.of(frame, CELLS, CELLS);
    }

    /** Takes the next frame. */
    public void add(LumaGrid frame) {
        last.add(frame);
        if (last.size() == 1) {
            whole.add(0, 0);
            part.add(0, 0);
        }
        if (last.size() == 3) {
            LumaGrid[] three = last.toArray(LumaGrid[]::new);
            excursion(three[0], three[1], three[2]);
            last.poll();
        }
    }

    private void excursion(LumaGrid before, LumaGrid frame, LumaGrid after) {
        int parts = PARTS * PARTS;
        double[] excursion = new double[parts];
        double[] apart = new double[parts];
        int[] counts = new int[parts];
        for (int row = 0; row < frame.rows(); row++) {
            for (int column = 0; column < frame.columns(); column++) {
                int p = row * PARTS / frame.rows() * PARTS + column * PARTS / frame.columns();
                double a = before.at(column, row);
                double b = after.at(column, row);
                excursion[p] += outside(a, frame.at(column, row), b);
                apart[p] += Math.abs(a - b);
                counts[p]++;
            }
        }
        int cells = frame.rows() * frame.columns();
        whole.add(Arrays.stream(excursion).sum() / cells, Arrays.stream(apart).sum() / cells);
        int worst = 0;
        for (int p = 1; p < parts; p++) {
            boolean more = counts[p] > 0 && (counts[worst] == 0 || net(excursion, apart, p) / counts[p] > net(excursion, apart, worst) / counts[worst]);
            worst = more ? p : worst;
        }
        part.add(excursion[worst] / counts[worst], apart[worst] / counts[worst]);
    }

    private static double net(double[] excursion, double[] apart, int p) {
        return excursion[p] - apart[p] / 2;
    }

    private static double outside(double before, double value, double after) {
        double low = Math.min(before, after);
        double high = Math.max(before, after);
        return Math.max(0, Math.max(low - value, value - high));
    }

    /** The flashes among the frames so far, in order. */
    public List<Flash> flashes() {
        List<Flash> found = new ArrayList<>();
        for (int t = 1; t < whole.size(); t++) {
            boolean all = whole.standsOut(t, WHOLE);
            if (all || part.standsOut(t, PART)) {
                found.add(new Flash(t, all ? whole.net(t) : part.net(t)));
            }
        }
        return List.copyOf(found);
    }

    /** One number of each frame, and what is usual around it. */
    private static final class Excursions {
        private final FrameSeries raw = new FrameSeries();
        private final FrameSeries net = new FrameSeries();

        void add(double excursion, double apart) {
            raw.add(excursion);
            net.add(excursion - apart / 2);
        }

        int size() {
            return raw.size();
        }

        double net(int t) {
            return net.get(t);
        }

        boolean standsOut(int t, double floor) {
            return net(t) >= floor && net(t) >= RATIO * Math.max(QUIET, usual(t));
        }

        private double usual(int t) {
            int from = Math.max(1, Math.min(t - AROUND, size() - 2 * AROUND - 1));
            int to = Math.min(size(), from + 2 * AROUND + 1);
            double[] around = new double[to - from - 1];
            for (int i = from, k = 0; i < to; i++) {
                if (i != t) {
                    around[k++] = raw.get(i);
                }
            }
            Arrays.sort(around);
            return around.length == 0 ? 0 : around[(int) (NINE_IN_TEN * (around.length - 1))];
        }
    }
}
