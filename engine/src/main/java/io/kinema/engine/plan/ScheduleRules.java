package io.kinema.engine.plan;

import io.kinema.engine.BadRequestException;
import io.kinema.engine.schedule.SigmaGrid;

/** The two schedules of a request must drive as many evaluations as it asks for, over noise levels that exist. */
final class ScheduleRules {
    /** Below it FP32 cancels in {@code 1 + (s - 1) b}: the highest noise level drifts from 1, and for the smallest shifts to infinity. */
    static final double MIN_SHIFT = 0.01;
    /** Above it even short grids have levels next to 1 that FP32 cannot tell apart. */
    static final double MAX_SHIFT = 1000;

    private ScheduleRules() {
    }

    /** @return the shift, when it is a number from {@link #MIN_SHIFT} to {@link #MAX_SHIFT} */
    static double shift(String field, double shift) {
        if (!(shift >= MIN_SHIFT && shift <= MAX_SHIFT)) {
            throw new BadRequestException(field, "" + shift, "expected a number from " + MIN_SHIFT + " to " + (int) MAX_SHIFT);
        }
        return shift;
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
