package io.kinema.quality.compare;

import io.kinema.quality.QualityGates;

/**
 * How two results are compared.
 *
 * @param gates    the limits
 * @param encoded  look at the files named only, not at what was saved beside a clip before it was encoded
 * @param common   where lengths, rates, channels or names differ, compare what both have, and say so, instead of refusing
 * @param bitwise  hold the candidate to {@link io.kinema.quality.Gate#BITWISE} too
 * @param pictures keep the first, middle, last and worst frames for a report
 */
public record ComparisonOptions(QualityGates gates, boolean encoded, boolean common, boolean bitwise, boolean pictures) {
    /** The published gates; refuse what is not alike. */
    public static ComparisonOptions defaults() {
        return new ComparisonOptions(QualityGates.published(), false, false, false, false);
    }

    /** These with other limits. */
    public ComparisonOptions withGates(QualityGates other) {
        return new ComparisonOptions(other, encoded, common, bitwise, pictures);
    }

    /** These, with frames kept. */
    public ComparisonOptions withPictures() {
        return new ComparisonOptions(gates, encoded, common, bitwise, true);
    }
}
