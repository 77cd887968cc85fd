package io.kinema.model.load;

import io.kinema.compute.collective.Communicator;
import io.kinema.weights.BadWeightsException;
import io.kinema.weights.StoredMatrix;
import java.util.List;
import java.util.OptionalInt;

/**
 * Which part of a matrix a rank reads: a contiguous range of its outputs or of its inputs. What it does not read takes no memory of it.
 *
 * @param axis  that is shared out
 * @param part  this rank's, 0 to parts - 1
 * @param parts how many there are; 1 is the whole matrix
 */
public record Share(Axis axis, int part, int parts) {
    /** What is shared out. */
    public enum Axis {
        /** Rows: each rank makes its own range of the result. */
        OUTPUTS,
        /** Columns: each rank reads its own range of the operand, and their results have to be added up. */
        INPUTS
    }

    /** All of it. */
    public static final Share WHOLE = new Share(Axis.OUTPUTS, 0, 1);

    public Share {
        if (parts < 1 || part < 0 || part >= parts) {
            throw new IllegalArgumentException("share: got part " + part + " of " + parts + ", expected 0 to parts - 1");
        }
    }

    /** A rank's outputs. */
    public static Share outputs(Communicator ranks) {
        return new Share(Axis.OUTPUTS, ranks.rank(), ranks.size());
    }

    /**
     * A rank's heads among {@code heads}; where there are fewer than ranks, neighbours read the same one.
     *
     * @throws IllegalArgumentException when one number is no multiple of the other
     */
    public static Share heads(Communicator ranks, int heads) {
        int parts = Math.min(ranks.size(), heads);
        if (heads % parts != 0 || ranks.size() % parts != 0) {
            throw new IllegalArgumentException("tensor parallel: got " + heads + " heads for " + ranks.size() + " ranks, expected one to be a multiple of the other");
        }
        return new Share(Axis.OUTPUTS, ranks.rank() * parts / ranks.size(), parts);
    }

    /** A rank's inputs. */
    public static Share inputs(Communicator ranks) {
        return new Share(Axis.INPUTS, ranks.rank(), ranks.size());
    }

    /** The first of {@code features} that belongs to this part. @throws IllegalArgumentException when they are no multiple of the parts */
    public long from(long features) {
        if (features % parts != 0) {
            throw new IllegalArgumentException("tensor parallel: got " + features + " features for " + parts + " ranks, expected a multiple");
        }
        return features / parts * part;
    }

    /** The first that belongs to the next part. */
    public long to(long features) {
        return from(features) + features / parts;
    }

    /**
     * A rotated group mixes all its columns, so no part may end within one.
     *
     * @param matrix whole, or some of its rows
     * @throws BadWeightsException when a bound lies within a group
     */
    public void requireWholeGroups(StoredMatrix matrix) {
        requireWholeGroups(matrix, List.of(matrix.columns()));
    }

    /**
     * {@link #requireWholeGroups(StoredMatrix)} whose refusal says how to make a file that can be shared.
     *
     * @param widths columns of all matrices of the file that are shared out alike
     */
    public void requireWholeGroups(StoredMatrix matrix, List<Long> widths) {
        if (axis == Axis.INPUTS && matrix.rotation().isPresent() && !SharedGroups.fits(matrix.columns(), parts, matrix.rotation())) {
            throw new BadWeightsException(matrix.file() + ": tensor " + matrix.name() + " has " + matrix.columns() + " columns rotated in groups of "
                    + matrix.rotation().getAsInt() + ", expected groups that divide the " + matrix.columns() / parts + " of each of " + parts
                    + " ranks; use fewer ranks" + another(matrix.rotation().getAsInt(), widths));
        }
    }

    private String another(int group, List<Long> widths) {
        OptionalInt smaller = SharedGroups.largest(widths, parts, group);
        return smaller.isEmpty() ? "" : ", or make another file of the original weights: kinema quantize MODEL --output FILE.safetensors --group-size " + smaller.getAsInt();
    }
}
