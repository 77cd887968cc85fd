package io.kinema.engine.pipeline;

import io.kinema.engine.record.StepRecord;
import io.kinema.engine.schedule.SigmaGrid;
import io.kinema.model.dit.RankMeter;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/** What every rank did in the steps of a loop, collected while it runs. One thread. */
final class RankSteps {
    private final SigmaGrid video;
    private final SigmaGrid audio;
    private final List<List<StepRecord>> records;

    RankSteps(int ranks, SigmaGrid video, SigmaGrid audio) {
        this.video = video;
        this.audio = audio;
        this.records = IntStream.range(0, ranks).<List<StepRecord>>mapToObj(_ -> new ArrayList<>()).toList();
    }

    /** How many steps there are. */
    int done() {
        return records.getFirst().size();
    }

    /** A step that an earlier attempt executed. */
    void restored(double seconds) {
        int i = done();
        records.forEach(steps -> steps.add(StepRecord.restored(i, video.sigmas()[i], audio.sigmas()[i], seconds)));
    }

    /**
     * A step that has ended.
     *
     * @param seconds        wall-clock time of all ranks
     * @param deviceSeconds  of the first rank; the others have measured their own
     * @param enqueueSeconds likewise
     * @param replayed       from a recording
     * @return of each rank
     */
    List<StepRecord> finished(double seconds, double deviceSeconds, double enqueueSeconds, boolean replayed, List<RankMeter> before,
                        List<RankMeter> after) {
        int i = done();
        for (int rank = 0; rank < records.size(); rank++) {
            RankMeter mine = after.get(rank).minus(before.get(rank));
            records.get(rank).add(new StepRecord(i, video.sigmas()[i], audio.sigmas()[i], seconds, rank == 0 ? deviceSeconds : mine.deviceSeconds(),
                    rank == 0 ? enqueueSeconds : mine.enqueueSeconds(), mine.work(), replayed, false));
        }
        return records.stream().map(List::getLast).toList();
    }

    /** Wall-clock time of each step. */
    List<Double> seconds() {
        return records.getFirst().stream().map(StepRecord::seconds).toList();
    }

    /** By rank, in order. */
    List<List<StepRecord>> records() {
        return records.stream().map(List::copyOf).toList();
    }
}
