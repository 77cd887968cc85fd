package io.kinema.compute;

import java.util.Arrays;
import java.util.Optional;

/** In which order the values of a dense matrix [N, K] lie. Both give products of the same rounding points; the order of sums may differ. */
public enum MatrixLayout {
    /** As checkpoints store them: one output's weights lie together, strides (K, 1). */
    ROW("row"),
    /** One input's weights lie together, strides (1, N): what the SM70 path of cuBLASLt reads fastest. */
    COLUMN("column");

    private final String label;

    MatrixLayout(String label) {
        this.label = label;
    }

    /** The name on the command line. */
    public String label() {
        return label;
    }

    /** The layout with this command-line name, or empty. */
    public static Optional<MatrixLayout> labelled(String label) {
        return Arrays.stream(values()).filter(l -> l.label.equals(label)).findFirst();
    }
}
