package io.kinema.engine.telemetry;

import io.kinema.engine.record.StepRecord;
import java.util.List;
import java.util.stream.Stream;
import jdk.jfr.Category;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/** A model evaluation of the denoising loop ran: {@link #begin()} before it, {@link #finish} after it. */
@Name("kinema.Step")
@Label("Step")
@Category("Kinema")
@StackTrace(false)
public final class StepEvent extends Event {
    @Label("Index")
    private int index;

    @Label("Steps")
    private int steps;

    @Label("Rank")
    private int rank;

    @Label("Useful FLOPs")
    private long usefulFlops;

    @Label("Executed Blocks")
    private long executedBlocks;

    @Label("Seconds on the Device")
    private double deviceSeconds;

    @Label("Seconds of the Host's Enqueueing")
    private double enqueueSeconds;

    /** One for each rank, begun. */
    public static List<StepEvent> begun(int ranks) {
        List<StepEvent> events = Stream.generate(StepEvent::new).limit(ranks).toList();
        events.forEach(StepEvent::begin);
        return events;
    }

    /** Ends and commits it. */
    public void finish(StepRecord step, int ofSteps, int ofRank) {
        end();
        if (shouldCommit()) {
            index = step.index();
            steps = ofSteps;
            rank = ofRank;
            usefulFlops = step.usefulFlops();
            executedBlocks = step.work().executedBlocks();
            deviceSeconds = step.deviceSeconds();
            enqueueSeconds = step.enqueueSeconds();
            commit();
        }
    }
}
