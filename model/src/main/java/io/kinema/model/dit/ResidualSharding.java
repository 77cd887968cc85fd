package io.kinema.model.dit;

import io.kinema.compute.collective.RowReduction;
import io.kinema.compute.collective.RowShares;
import java.util.Optional;

/**
 * That the residual rows live once across the ranks of a transformer, each rank with its own, and how they are added up. Has no effect on one rank.
 *
 * @param reduction   by the ranks' all-reduce, or by peers with its bits
 * @param budgetBytes the most memory that peers may take for it on a rank
 */
public record ResidualSharding(RowReduction.Mode reduction, long budgetBytes) {
    /** What a sequence's rows are padded to a multiple of: whole tiles of attention kernels. */
    private static final int MULTIPLE = 64;
    private static final String ALONE = "one rank has all residual rows, there is nothing to add up";

    /** Which packed rows are whose. */
    public static RowShares shares(int rows, int ranks) {
        return RowShares.padded(rows, ranks, MULTIPLE);
    }

    /** Why another way will be used than asked for, as far as it can be told before. @param hidden width of a row */
    public Optional<String> fallback(RowShares shares, int hidden) {
        if (shares.ranks() == 1) {
            return Optional.of(ALONE);
        }
        return reduction == RowReduction.Mode.PEER ? RowReduction.refusal(shares, hidden, budgetBytes) : Optional.empty();
    }

    /** What one rank reports. */
    static RowReduction.Report alone() {
        return new RowReduction.Report(0, 0, 0, 0, Optional.of(ALONE));
    }
}
