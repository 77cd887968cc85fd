package io.kinema.measure.bench;

import static org.assertj.core.api.Assertions.assertThat;

import io.kinema.measure.bench.MeasuredRun.Rank;
import io.kinema.measure.bench.MeasuredRun.Role;
import io.kinema.measure.bench.MeasuredRun.Step;
import io.kinema.measure.bench.Rejection.Rule;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/** Runs that are no measurement are refused, each for its reason. */
class BenchRulesTest {
    private static final List<Step> STEPS = List.of(new Step(0, 100, 1), new Step(1, 100, 1));
    private static final List<Rank> RANKS = List.of(new Rank(0, 2.5, 210, 10, STEPS, 0), new Rank(1, 2.4, 210, 10, STEPS, 0));

    private static MeasuredRun run(int index) {
        return new MeasuredRun(index == 0 ? Role.WARM_UP : Role.MEASURED, "engine", index, false, "configuration", List.of(1f, 0.9f, 0f), List.of(1f, 0.5f, 0f),
                RANKS, 3, 1000, List.of());
    }

    private static List<MeasuredRun> whole() {
        return new ArrayList<>(List.of(run(0), run(1), run(2), run(3)));
    }

    private static void refused(Rule rule, String reason, List<MeasuredRun> runs) {
        assertThat(BenchRules.check(runs)).hasValueSatisfying(rejection -> {
            assertThat(rejection.rule()).isEqualTo(rule);
            assertThat(rejection.reason()).contains(reason);
        });
    }

    /** The last of four good runs changed. */
    private static List<MeasuredRun> with(UnaryOperator<MeasuredRun> change) {
        List<MeasuredRun> runs = whole();
        runs.set(3, change.apply(runs.get(3)));
        return runs;
    }

    private static MeasuredRun ranks(MeasuredRun run, List<Rank> ranks) {
        return new MeasuredRun(run.role(), run.session(), run.request(), run.captured(), run.configuration(), run.sigmas(), run.audioSigmas(), ranks,
                run.latencySeconds(), run.hostBytes(), run.profilers());
    }

    @Test
    void aWholeBenchIsAccepted() {
        assertThat(BenchRules.check(whole())).isEmpty();
    }

    @Test
    void profiled() {
        refused(Rule.PROFILED, "Flight Recorder", with(r -> new MeasuredRun(r.role(), r.session(), r.request(), false, r.configuration(), r.sigmas(),
                r.audioSigmas(), r.ranks(), 3, 1, List.of("Flight Recorder is recording"))));
    }

    @Test
    void captured() {
        refused(Rule.CAPTURED, "intermediates", with(r -> new MeasuredRun(r.role(), r.session(), r.request(), true, r.configuration(), r.sigmas(),
                r.audioSigmas(), r.ranks(), 3, 1, List.of())));
    }

    @Test
    void twoWarmUps() {
        List<MeasuredRun> runs = whole();
        MeasuredRun second = runs.get(1);
        runs.set(1, new MeasuredRun(Role.WARM_UP, second.session(), 1, false, second.configuration(), second.sigmas(), second.audioSigmas(), RANKS, 3, 1, List.of()));
        refused(Rule.PROTOCOL, "2 warm-up", runs);
    }

    @Test
    void noWarmUpOrALateOne() {
        List<MeasuredRun> runs = whole();
        refused(Rule.PROTOCOL, "0 warm-up", runs.subList(1, 4));
        java.util.Collections.rotate(runs, 1);
        refused(Rule.PROTOCOL, "not the first", runs);
    }

    @Test
    void aMissingRequest() {
        refused(Rule.INCOMPLETE, "2 measured", whole().subList(0, 3));
    }

    @Test
    void oneRequestTooMany() {
        List<MeasuredRun> runs = whole();
        runs.add(run(4));
        refused(Rule.PROTOCOL, "4 measured", runs);
    }

    @Test
    void severalEngines() {
        refused(Rule.PROTOCOL, "several engines", with(r -> new MeasuredRun(r.role(), "another", r.request(), false, r.configuration(), r.sigmas(),
                r.audioSigmas(), r.ranks(), 3, 1, List.of())));
    }

    @Test
    void aRequestInBetween() {
        refused(Rule.PROTOCOL, "[0, 1, 2, 4]", with(r -> new MeasuredRun(r.role(), r.session(), 4, false, r.configuration(), r.sigmas(),
                r.audioSigmas(), r.ranks(), 3, 1, List.of())));
    }

    @Test
    void mixedConfigurations() {
        refused(Rule.MIXED, "differ", with(r -> new MeasuredRun(r.role(), r.session(), r.request(), false, "other", r.sigmas(), r.audioSigmas(),
                r.ranks(), 3, 1, List.of())));
    }

    @Test
    void differentWork() {
        List<Step> less = List.of(new Step(0, 100, 1), new Step(1, 99, 1));
        refused(Rule.MIXED, "different work", with(r -> ranks(r, List.of(new Rank(0, 2.5, 209, 10, less, 0), RANKS.get(1)))));
    }

    @Test
    void aMissingStep() {
        List<Step> gap = List.of(new Step(0, 100, 1), new Step(2, 100, 1));
        refused(Rule.INCOMPLETE, "steps [0, 2], expected 0 to 1", with(r -> ranks(r, List.of(new Rank(0, 2.5, 210, 10, gap, 0), RANKS.get(1)))));
        List<MeasuredRun> runs = new ArrayList<>();
        whole().forEach(r -> runs.add(ranks(r, List.of(new Rank(0, 2.5, 110, 10, STEPS.subList(0, 1), 0)))));
        refused(Rule.INCOMPLETE, "steps [0]", runs);
    }

    @Test
    void aMissingRank() {
        List<MeasuredRun> runs = new ArrayList<>();
        whole().forEach(r -> runs.add(ranks(r, List.of(RANKS.get(1)))));
        refused(Rule.INCOMPLETE, "ranks [1]", runs);
    }

    @Test
    void sumsThatDoNotAddUp() {
        refused(Rule.INCONSISTENT, "counts 211", with(r -> ranks(r, List.of(RANKS.get(0), new Rank(1, 2.4, 211, 10, STEPS, 0)))));
    }

    @Test
    void schedulesThatDoNotFallToZero() {
        for (List<Float> levels : List.of(List.of(1f, 1f, 0f), List.of(1f, 0.9f, 0.1f), List.of(1f, 0f))) {
            assertThat(BenchRules.check(with(r -> new MeasuredRun(r.role(), r.session(), r.request(), false, r.configuration(), levels, r.audioSigmas(), r.ranks(),
                    3, 1, List.of())))).as("%s", levels).hasValueSatisfying(rejection -> assertThat(rejection.rule()).isEqualTo(Rule.INCONSISTENT));
        }
    }

    @Test
    void timesThatContainOneAnotherWrongly() {
        refused(Rule.INCONSISTENT, "expected each within the next", with(r -> ranks(r, List.of(new Rank(0, 1.5, 210, 10, STEPS, 0), RANKS.get(1)))));
    }
}
