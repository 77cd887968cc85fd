package io.kinema.engine.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kinema.engine.BadRequestException;
import io.kinema.engine.schedule.SigmaGrid;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.DoubleRange;
import net.jqwik.api.constraints.IntRange;

/** What the rules accept can be sampled; what cannot be sampled they refuse. */
class ScheduleRulesTest {
    @Property(tries = 2000)
    void everyAcceptedShiftGivesFallingLevelsUpToPureNoise(@ForAll @IntRange(min = 1, max = RequestResolver.MAX_STEPS) int steps,
            @ForAll @DoubleRange(min = -2, max = 3) double decade) {
        double shift = Math.clamp(Math.pow(10, decade), ScheduleRules.MIN_SHIFT, ScheduleRules.MAX_SHIFT);
        assertFallingOrRefused(steps, ScheduleRules.shift("flowShift", shift));
    }

    @Example
    void theBoundsThemselvesAreAccepted() {
        for (int steps : new int[] {1, 2, 40, RequestResolver.MAX_STEPS}) {
            assertFallingOrRefused(steps, ScheduleRules.shift("flowShift", ScheduleRules.MIN_SHIFT));
            assertFallingOrRefused(steps, ScheduleRules.shift("flowShift", ScheduleRules.MAX_SHIFT));
        }
    }

    @Property
    void shiftsOutsideTheBoundsAreRefusedByName(@ForAll @DoubleRange(min = -330, max = -2.01) double decade) {
        double small = Math.pow(10, decade);
        for (double shift : new double[] {small, -small, 1e3 / small}) {
            if (shift >= ScheduleRules.MIN_SHIFT && shift <= ScheduleRules.MAX_SHIFT) {
                continue;
            }
            assertThatThrownBy(() -> ScheduleRules.shift("audioFlowShift", shift)).isInstanceOf(BadRequestException.class)
                    .hasMessage("audioFlowShift: got " + shift + ", expected a number from 0.01 to 1000");
        }
    }

    private static void assertFallingOrRefused(int steps, double shift) {
        try {
            ScheduleRules.requireDistinctSteps(steps, shift, shift);
        } catch (BadRequestException e) {
            // Few levels do fit whatever the shift: only a long grid is ever refused.
            assertThat(steps).isGreaterThan(100);
            assertThat(e).hasMessageContaining("differ in FP32");
            return;
        }
        float[] sigmas = SigmaGrid.ofEvaluations(steps, shift).sigmas();
        assertThat(sigmas).hasSize(steps + 1);
        assertThat(sigmas[0]).isGreaterThan(0).isLessThanOrEqualTo(1);
        assertThat(sigmas[steps]).isZero();
        for (int i = 1; i <= steps; i++) {
            assertThat(sigmas[i]).isFinite().isLessThan(sigmas[i - 1]);
        }
    }
}
