package io.kinema.measure.bench;

import io.kinema.measure.bench.MeasuredRun.Rank;
import io.kinema.measure.bench.MeasuredRun.Role;
import io.kinema.measure.bench.MeasuredRun.Step;
import io.kinema.measure.bench.Rejection.Rule;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/** What a bench's runs must be before their numbers mean anything. The first rule that is broken is the answer. */
final class BenchRules {
    /** Measured requests of a bench. */
    static final int MEASURED = 3;

    private BenchRules() {
    }

    /** @param runs in the order in which they were made */
    static Optional<Rejection> check(List<MeasuredRun> runs) {
        return protocol(runs).or(() -> undisturbed(runs)).or(() -> same(runs))
                .or(() -> runs.stream().map(BenchRules::whole).flatMap(Optional::stream).findFirst());
    }

    private static Optional<Rejection> protocol(List<MeasuredRun> runs) {
        long warmUps = runs.stream().filter(run -> run.role() == Role.WARM_UP).count();
        long measured = runs.size() - warmUps;
        if (warmUps != 1 || runs.getFirst().role() != Role.WARM_UP) {
            return rejected(Rule.PROTOCOL, "got " + warmUps + " warm-up requests" + (warmUps == 1 ? ", not the first" : "") + ", expected one, before all others");
        }
        if (measured < MEASURED) {
            return rejected(Rule.INCOMPLETE, "got " + measured + " measured requests, expected " + MEASURED);
        }
        if (measured > MEASURED) {
            return rejected(Rule.PROTOCOL, "got " + measured + " measured requests, expected " + MEASURED);
        }
        if (runs.stream().map(MeasuredRun::session).distinct().count() > 1) {
            return rejected(Rule.PROTOCOL, "the requests were made by several engines, expected one");
        }
        List<Integer> numbers = runs.stream().map(MeasuredRun::request).toList();
        return numbers.equals(IntStream.range(0, runs.size()).boxed().toList()) ? Optional.empty()
                : rejected(Rule.PROTOCOL, "requests " + numbers + " of the engine's life, expected the first " + runs.size() + " one after the other");
    }

    private static Optional<Rejection> undisturbed(List<MeasuredRun> runs) {
        Optional<String> profiler = runs.stream().flatMap(run -> run.profilers().stream()).findFirst();
        if (profiler.isPresent()) {
            return rejected(Rule.PROFILED, profiler.get());
        }
        return runs.stream().anyMatch(MeasuredRun::captured) ? rejected(Rule.CAPTURED, "intermediates of a request were looked at") : Optional.empty();
    }

    private static Optional<Rejection> same(List<MeasuredRun> runs) {
        if (runs.stream().map(MeasuredRun::configuration).distinct().count() > 1) {
            return rejected(Rule.MIXED, "the requests differ in what was asked, in the model, the code or the way of running");
        }
        boolean sameWork = runs.stream().map(run -> run.ranks().stream().map(rank -> rank.steps().stream().map(Step::usefulFlops).toList()).toList())
                .distinct().count() <= 1;
        return sameWork ? Optional.empty() : rejected(Rule.MIXED, "the requests executed different work");
    }

    private static Optional<Rejection> whole(MeasuredRun run) {
        return schedule(run).or(() -> ranks(run)).or(() -> run.ranks().stream().map(rank -> rank(run, rank)).flatMap(Optional::stream).findFirst());
    }

    private static Optional<Rejection> schedule(MeasuredRun run) {
        if (run.sigmas().size() != run.audioSigmas().size() || run.sigmas().size() < 2) {
            return rejected(Rule.INCONSISTENT, "got " + run.sigmas().size() + " video and " + run.audioSigmas().size() + " sound noise levels, expected as many, 2 or more");
        }
        return falls(run.sigmas()) && falls(run.audioSigmas()) ? Optional.empty()
                : rejected(Rule.INCONSISTENT, "noise levels that do not fall strictly to exactly 0");
    }

    private static boolean falls(List<Float> levels) {
        return levels.getLast() == 0 && IntStream.range(1, levels.size()).allMatch(i -> levels.get(i) < levels.get(i - 1));
    }

    private static Optional<Rejection> ranks(MeasuredRun run) {
        List<Integer> numbers = run.ranks().stream().map(Rank::rank).toList();
        return !numbers.isEmpty() && numbers.equals(IntStream.range(0, numbers.size()).boxed().toList()) ? Optional.empty()
                : rejected(Rule.INCOMPLETE, "ranks " + numbers + ", expected 0 to the last without a gap");
    }

    private static Optional<Rejection> rank(MeasuredRun run, Rank rank) {
        List<Integer> steps = rank.steps().stream().map(Step::index).toList();
        if (!steps.equals(IntStream.range(0, run.sigmas().size() - 1).boxed().toList())) {
            return rejected(Rule.INCOMPLETE, "rank " + rank.rank() + " has steps " + steps + ", expected 0 to " + (run.sigmas().size() - 2) + " without a gap");
        }
        long sum = rank.preparationFlops() + rank.steps().stream().mapToLong(Step::usefulFlops).sum();
        if (sum != rank.usefulFlops() || rank.steps().stream().anyMatch(step -> step.usefulFlops() <= 0) || rank.preparationFlops() < 0) {
            return rejected(Rule.INCONSISTENT, "rank " + rank.rank() + " counts " + rank.usefulFlops() + " useful operations, but its steps " + sum);
        }
        double inSteps = rank.steps().stream().mapToDouble(Step::seconds).sum();
        boolean timed = Double.isFinite(rank.denoiseSeconds()) && rank.steps().stream().allMatch(step -> step.seconds() > 0) && inSteps <= rank.denoiseSeconds()
                && rank.denoiseSeconds() <= run.latencySeconds();
        return timed ? Optional.empty() : rejected(Rule.INCONSISTENT, "rank " + rank.rank() + " took " + inSteps + " s in steps, "
                + rank.denoiseSeconds() + " s to denoise and " + run.latencySeconds() + " s in all, expected each within the next");
    }

    private static Optional<Rejection> rejected(Rule rule, String reason) {
        return Optional.of(new Rejection(rule, reason));
    }
}
