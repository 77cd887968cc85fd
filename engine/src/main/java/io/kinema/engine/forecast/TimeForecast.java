package io.kinema.engine.forecast;

import io.kinema.engine.Stage;
import io.kinema.engine.record.UsefulWork;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;

/** Estimates the time of every stage from measured rates; the denoising alone also from the speed of matrix products. */
final class TimeForecast {
    private final Rates rates;
    private final String way;
    private final UsefulWork.Rows rows;
    private final double flops;
    private final int outputs;

    /** @param flops of one output's denoising */
    TimeForecast(Rates rates, String way, UsefulWork.Rows rows, double flops, int outputs) {
        this.rates = rates;
        this.way = way;
        this.rows = rows;
        this.flops = flops;
        this.outputs = outputs;
    }

    boolean measured() {
        return !rates.of(way, Stage.DENOISING).isEmpty();
    }

    /** @param probed FLOP/s of matrix products */
    List<RunPlan.StageEstimate> stages(OptionalDouble probed) {
        List<RunPlan.StageEstimate> stages = new ArrayList<>();
        for (Stage stage : Stage.values()) {
            double work = StageWork.of(stage, rows, flops) * (StageWork.perOutput(stage) ? outputs : 1);
            if (work > 0) {
                stages.add(estimate(stage, work, probed));
            }
        }
        return stages;
    }

    private RunPlan.StageEstimate estimate(Stage stage, double work, OptionalDouble probed) {
        List<Double> sorted = rates.of(way, stage).stream().sorted().toList();
        if (!sorted.isEmpty()) {
            return new RunPlan.StageEstimate(stage, OptionalDouble.of(work * sorted.get(sorted.size() / 2)), work * sorted.getFirst(),
                    work * sorted.getLast(), sorted.size());
        }
        if (stage == Stage.DENOISING && probed.isPresent()) {
            double seconds = work / probed.getAsDouble();
            return new RunPlan.StageEstimate(stage, OptionalDouble.of(seconds), seconds, seconds, 0);
        }
        return new RunPlan.StageEstimate(stage, OptionalDouble.empty(), 0, 0, 0);
    }
}
