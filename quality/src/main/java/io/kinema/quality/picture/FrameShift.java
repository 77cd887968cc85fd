package io.kinema.quality.picture;

import io.kinema.media.image.RgbImage;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * Finds by how many frames a candidate runs behind its reference: dropped or repeated frames shift what follows them.
 *
 * <p>Frames are remembered as {@link LumaGrid}s of 16x9 cells. The shift of a stretch is the one within {@value #REACH} frames either way
 * whose mean grid distance is smallest; of shifts within 5% of the smallest, as in a clip that stands still, the one nearest to
 * none. A stretch in which the reference does not move has no shift. For one thread.
 */
public final class FrameShift {
    private static final int REACH = 12;
    private static final int COLUMNS = 16;
    private static final int ROWS = 9;
    private static final double TIE = 1.05;
    private static final double STILL = 0.1;
    private static final double CLEARLY = 0.8;

    private final List<LumaGrid> candidate = new ArrayList<>();
    private final List<LumaGrid> reference = new ArrayList<>();

    /** The grid that is remembered of a frame. */
    public static LumaGrid grid(RgbImage frame) {
        return LumaGrid.of(frame, COLUMNS, ROWS);
    }

    /** Takes the next frame of the candidate. */
    public void addCandidate(LumaGrid frame) {
        candidate.add(frame);
    }

    /** Takes the next frame of the reference. */
    public void addReference(LumaGrid frame) {
        reference.add(frame);
    }

    /**
     * Frames by which the candidate is late (positive) in {@code [from, to)} of the reference.
     *
     * @return empty when that stretch does not tell, or is too short
     */
    public OptionalInt in(int from, int to) {
        int end = Math.min(to, Math.min(candidate.size(), reference.size()));
        if (end - from < 3 || motion(from, end) < STILL) {
            return OptionalInt.empty();
        }
        double[] distances = new double[2 * REACH + 1];
        double least = Double.POSITIVE_INFINITY;
        for (int shift = -REACH; shift <= REACH; shift++) {
            distances[REACH + shift] = distance(from, end, shift).orElse(Double.POSITIVE_INFINITY);
            least = Math.min(least, distances[REACH + shift]);
        }
        double[] sorted = distances.clone();
        Arrays.sort(sorted);
        if (least > CLEARLY * sorted[REACH]) {
            return OptionalInt.empty();
        }
        int best = Integer.MAX_VALUE;
        for (int shift = -REACH; shift <= REACH; shift++) {
            boolean near = distances[REACH + shift] <= least * TIE;
            best = near && Math.abs(shift) < Math.abs(best) ? shift : best;
        }
        return OptionalInt.of(best);
    }

    private double motion(int from, int end) {
        double sum = 0;
        for (int t = from + 1; t < end; t++) {
            sum += reference.get(t).distance(reference.get(t - 1));
        }
        return sum / (end - from - 1);
    }

    /** Empty when less than half of the stretch has a partner. */
    private Optional<Double> distance(int from, int end, int shift) {
        double sum = 0;
        int count = 0;
        for (int t = from; t < end; t++) {
            if (t + shift >= 0 && t + shift < candidate.size()) {
                sum += reference.get(t).distance(candidate.get(t + shift));
                count++;
            }
        }
        return 2 * count < end - from ? Optional.empty() : Optional.of(sum / count);
    }
}
