package io.kinema.engine.record;

import io.kinema.compute.collective.RowReduction;
import io.kinema.compute.collective.Traffic;
import io.kinema.model.load.StagingReport;
import io.kinema.model.work.Work;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * What one rank did: a device and its share of the transformer.
 *
 * @param rank                   0 to ranks - 1
 * @param device                 {@code cpu}, {@code cuda:1}
 * @param facts                  of the device by name
 * @param denoiseSeconds         wall-clock time of its complete denoising, preparation included
 * @param preparation            work before the first step, of the first output of a request only
 * @param steps                  in order
 * @param peakDeviceBytes        the most device memory in use, communication buffers left out; 0 on the host
 * @param peakCommunicationBytes the most that buffers shared with other ranks took
 * @param traffic                reductions and gathers with other ranks in its denoising
 * @param rowReductions          how its residual rows were added up; empty where every rank had all rows
 * @param staging                what bringing its weights took in its denoising
 */
public record RankRecord(int rank, String device, SortedMap<String, String> facts, double denoiseSeconds, Work preparation,
                         List<StepRecord> steps, long peakDeviceBytes, long peakCommunicationBytes, Traffic traffic, Optional<RowReduction.Report> rowReductions,
                         StagingReport staging) {
    public RankRecord {
        facts = Collections.unmodifiableSortedMap(new TreeMap<>(facts));
        steps = List.copyOf(steps);
    }

    /** All that was executed. */
    public Work work() {
        return steps.stream().map(StepRecord::work).reduce(preparation, Work::plus);
    }

    /** Steps that were replayed from a recording. */
    public long replayedSteps() {
        return steps.stream().filter(StepRecord::replayed).count();
    }

    /** Useful work. */
    public long usefulFlops() {
        return work().usefulFlops();
    }
}
