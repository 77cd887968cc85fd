package io.kinema.quality.picture;

import java.util.Arrays;
import java.util.Objects;

/**
 * One number for each frame, in order; grows as frames come.
 * Small is bad: the worst frame is the one with the smallest number, the first of several.
 */
public final class FrameSeries {
    private double[] values = new double[64];
    private int count;

    /** Appends the next frame's number. */
    public void add(double value) {
        if (count == values.length) {
            values = Arrays.copyOf(values, 2 * count);
        }
        values[count++] = value;
    }

    /** Frames so far. */
    public int size() {
        return count;
    }

    /** The number of frame {@code index}. @throws IndexOutOfBoundsException beyond {@link #size()} */
    public double get(int index) {
        return values[Objects.checkIndex(index, count)];
    }

    /** A copy of all numbers. */
    public double[] toArray() {
        return Arrays.copyOf(values, count);
    }

    /** Arithmetic mean, NaN of nothing. */
    public double mean() {
        double sum = 0;
        for (int i = 0; i < count; i++) {
            sum += values[i];
        }
        return count == 0 ? Double.NaN : sum / count;
    }

    /** Frame with the smallest number (a NaN is smaller than any), -1 when there is none. */
    public int worst() {
        int worst = count == 0 ? -1 : 0;
        for (int i = 1; i < count; i++) {
            if (!Double.isNaN(values[worst]) && !(values[i] >= values[worst])) {
                worst = i;
            }
        }
        return worst;
    }
}
