package io.kinema.compute.collective;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * The fifteen ways to add four FP32 values: addition commutes but does not associate, so twelve chains {@code ((p + q) + r) + s} and three
 * balanced trees {@code (p + q) + (r + s)} can give fifteen different sums. The constants stand in the order of the codes that plans store.
 * Values are called a to d, those of ranks 0 to 3. A NaN's payload is not told apart.
 */
public enum SumTree {
    CDBA(false, 2, 3, 1, 0),
    BCDA(false, 1, 2, 3, 0),
    BDCA(false, 1, 3, 2, 0),
    AB_CD(true, 0, 1, 2, 3),
    AC_BD(true, 0, 2, 1, 3),
    BCAD(false, 1, 2, 0, 3),
    ABCD(false, 0, 1, 2, 3),
    ACBD(false, 0, 2, 1, 3),
    AD_BC(true, 0, 3, 1, 2),
    BDAC(false, 1, 3, 0, 2),
    ABDC(false, 0, 1, 3, 2),
    ADBC(false, 0, 3, 1, 2),
    CDAB(false, 2, 3, 0, 1),
    ACDB(false, 0, 2, 3, 1),
    ADCB(false, 0, 3, 2, 1);

    /** All trees, by code. */
    public static final List<SumTree> ALL = List.of(values());

    private final boolean balanced;
    private final int[] order;

    SumTree(boolean balanced, int... order) {
        this.balanced = balanced;
        this.order = order;
    }

    /** The sum of four values, each addition rounded to FP32. */
    public float sum(float... x) {
        float first = x[order[0]] + x[order[1]];
        return balanced ? first + (x[order[2]] + x[order[3]]) : (first + x[order[2]]) + x[order[3]];
    }

    /** As kernels read it: from the lowest bits on the four ranks in the order of addition, two bits each; bit 8 is set for a balanced tree. */
    public int packed() {
        return order[0] | order[1] << 2 | order[2] << 4 | order[3] << 6 | (balanced ? 1 << 8 : 0);
    }

    /** The same for {@code n} values of each of four arrays, from {@code from} on. */
    void sum(float[][] x, int from, int n, float[] out) {
        float[] p = x[order[0]];
        float[] q = x[order[1]];
        float[] r = x[order[2]];
        float[] s = x[order[3]];
        if (balanced) {
            for (int i = from; i < from + n; i++) {
                out[i] = (p[i] + q[i]) + (r[i] + s[i]);
            }
        } else {
            for (int i = from; i < from + n; i++) {
                out[i] = ((p[i] + q[i]) + r[i]) + s[i];
            }
        }
    }

    @Override
    public String toString() {
        char[] names = new char[order.length];
        for (int i = 0; i < order.length; i++) {
            names[i] = (char) ('a' + order[i]);
        }
        return String.format(Locale.ROOT, balanced ? "(%s+%s)+(%s+%s)" : "((%s+%s)+%s)+%s", Arrays.copyOf(new Object[] {names[0], names[1], names[2], names[3]}, 4));
    }
}
