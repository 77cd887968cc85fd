package io.kinema.model.dit;

import io.kinema.compute.collective.RowReduction;

/**
 * That the residual rows live once across the ranks of a transformer, each rank with its own, and how they are added up. Has no effect on one rank.
 *
 * @param reduction   by the ranks' all-reduce, or by peers with its bits
 * @param budgetBytes the most memory that peers may take for it on a rank
 */
public record ResidualSharding(RowReduction.Mode reduction, long budgetBytes) {
}
