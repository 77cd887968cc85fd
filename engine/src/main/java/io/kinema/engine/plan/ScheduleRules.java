package io.kinema.engine.plan;

import io.kinema.engine.BadRequestException;
import io.kinema.engine.schedule.SigmaGrid;

/** The two schedules of a request must drive as many evaluations as it asks for. */
final class ScheduleRules {
    private ScheduleRules() {
    }

    /** A long grid under a large shift has noise levels that FP32 cannot tell apart; those steps would be lost unseen. */
    static void requireDistinctSteps(int steps, double flowShift, double audioFlowShift) {
        requireDistinct(steps, "flowShift", flowShift);
        requireDistinct(steps, "audioFlowShift", audioFlowShift);
    }

    private static void requireDistinct(int steps, String field, double shift) {
        int distinct = SigmaGrid.ofEvaluations(steps, shift).evaluations();
        if (distinct < steps) {
            throw new BadRequestException("steps", steps + " with " + field + " " + shift,
                    "of which only " + distinct + " differ in FP32; ask for fewer steps or a smaller shift");
        }
    }
}
