package io.kinema.model.dit;

import io.kinema.compute.collective.RowReduction;
import io.kinema.compute.collective.Traffic;
import io.kinema.model.load.StagingReport;
import io.kinema.model.work.Work;
import java.util.Optional;

/**
 * What one rank of a transformer has executed since it was opened. A request's share is the difference of two readings.
 *
 * @param work           layers and their sizes
 * @param deviceSeconds  of evaluations on the rank's device, between two of its own time marks; 0 where the caller measures it
 * @param enqueueSeconds that the rank's thread took to hand evaluations to the device; 0 likewise
 * @param traffic        reductions and gathers
 * @param rowReductions  how its residual rows were added up; empty where rows were not to be shared out
 * @param staging        what bringing its weights took
 */
public record RankMeter(Work work, double deviceSeconds, double enqueueSeconds, Traffic traffic, Optional<RowReduction.Report> rowReductions,
                        StagingReport staging) {
    /** What came after {@code earlier}. */
    public RankMeter minus(RankMeter earlier) {
        return new RankMeter(work.minus(earlier.work), deviceSeconds - earlier.deviceSeconds, enqueueSeconds - earlier.enqueueSeconds,
                traffic.minus(earlier.traffic),
                rowReductions.map(now -> now.minus(earlier.rowReductions.orElse(RowReduction.Report.NONE))),
                staging.since(earlier.staging));
    }
}
