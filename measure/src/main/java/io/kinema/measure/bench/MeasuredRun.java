package io.kinema.measure.bench;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kinema.engine.record.RankRecord;
import io.kinema.engine.record.RunRecord;
import io.kinema.engine.record.StepRecord;
import io.kinema.measure.contract.CanonicalJson;
import java.util.List;

/**
 * One request of a bench: what its run record says, and how long it took.
 *
 * @param role           warm-up or measured
 * @param session        engine that made it
 * @param request        its number in that engine's life
 * @param captured       whether somebody looked at intermediates
 * @param configuration  hash of all that must be the same in every run: request, model, code, execution, rows
 * @param sigmas         video noise levels
 * @param audioSigmas    sound noise levels
 * @param ranks          in order
 * @param latencySeconds from the request to the finished file
 * @param hostBytes      the process's peak of resident memory
 * @param profilers      what disturbed it, see {@link JvmState#problems()}
 */
record MeasuredRun(Role role, String session, int request, boolean captured, String configuration, List<Float> sigmas, List<Float> audioSigmas,
                   List<Rank> ranks, double latencySeconds, long hostBytes, List<String> profilers) {
    /** Why it was made. */
    enum Role { WARM_UP, MEASURED }

    MeasuredRun {
        sigmas = List.copyOf(sigmas);
        audioSigmas = List.copyOf(audioSigmas);
        ranks = List.copyOf(ranks);
        profilers = List.copyOf(profilers);
    }

    /**
     * One rank's share.
     *
     * @param denoiseSeconds   its complete denoising
     * @param usefulFlops      all of it
     * @param preparationFlops before the first step
     * @param steps            in order
     * @param deviceBytes      peak of its device's memory, communication buffers included
     */
    record Rank(int rank, double denoiseSeconds, long usefulFlops, long preparationFlops, List<Step> steps, long deviceBytes) {
        Rank {
            steps = List.copyOf(steps);
        }

        static Rank of(RankRecord rank) {
            return new Rank(rank.rank(), rank.denoiseSeconds(), rank.usefulFlops(), rank.preparation().usefulFlops(),
                    rank.steps().stream().map(Step::of).toList(), rank.peakDeviceBytes() + rank.peakCommunicationBytes());
        }
    }

    /** One model evaluation. */
    record Step(int index, long usefulFlops, double seconds) {
        static Step of(StepRecord step) {
            return new Step(step.index(), step.usefulFlops(), step.seconds());
        }
    }

    static MeasuredRun of(Role role, RunRecord record, double latencySeconds, List<String> profilers) {
        return new MeasuredRun(role, record.session().engine(), record.session().request(), record.session().captured(), configuration(record.toJson()),
                record.schedule().sigmas(), record.schedule().audioSigmas(), record.ranks().stream().map(Rank::of).toList(), latencySeconds,
                record.memory().peakResidentBytes(), profilers);
    }

    private static String configuration(JsonNode record) {
        ObjectNode same = JsonNodeFactory.instance.objectNode();
        for (String part : List.of("request", "model", "engine", "host", "execution", "rows", "schedule")) {
            same.set(part, record.path(part).deepCopy());
        }
        // Libraries are loaded, and kernels chosen, when they are first needed.
        ((ObjectNode) same.path("engine")).remove("native_files");
        ((ObjectNode) same.path("execution")).remove("choices");
        return CanonicalJson.sha256(same);
    }

    /** The slowest rank's complete denoising. */
    double denoiseSeconds() {
        return ranks.stream().mapToDouble(Rank::denoiseSeconds).max().orElse(Double.NaN);
    }
}
