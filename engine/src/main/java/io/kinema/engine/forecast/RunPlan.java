package io.kinema.engine.forecast;

import com.fasterxml.jackson.databind.JsonNode;
import io.kinema.engine.Stage;
import io.kinema.engine.plan.ResolvedRequest;
import io.kinema.engine.record.RunRecord;
import io.kinema.engine.record.UsefulWork;
import io.kinema.model.load.HostWeights;
import io.kinema.model.load.WeightResidency;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * What a request will do and cost. {@link #toJson()} is what {@code kinema plan --json} prints.
 *
 * @param request     with every default and every snap
 * @param model       name of the model's folder
 * @param transformer component that will run: {@code transformer} or {@code transformer_ref}
 * @param weightBytes of all networks, as stored
 * @param encodings   of the transformer's matrices, the one with the most values first
 * @param execution   where and how it will run
 * @param conditions  keyframes or references in order, as the prompt calls them
 * @param rows        of the packed sequence
 * @param usefulFlops of the denoising loops of all outputs
 * @param memory      one for each stage, in order
 * @param scratch     that each network has in use at most, as run records measure it, bytes
 * @param residency   how weights will be kept, and what all of it takes at most
 * @param policies    the same for every way of keeping them, what is asked for or not
 * @param time        one for each stage, in order; all outputs
 * @param probed      FLOP/s of matrix products, measured for this plan because no clip was measured yet; empty when one was
 * @param residual    how residual rows will lie on the ranks; empty where every rank will have all of them
 */
public record RunPlan(ResolvedRequest request, String model, String transformer, long weightBytes, List<String> encodings,
                      RunRecord.Execution execution, List<Condition> conditions, UsefulWork.Rows rows, long usefulFlops, List<StageMemory> memory,
                      SortedMap<String, Long> scratch, Residency residency, List<Residency> policies, List<StageEstimate> time, OptionalDouble probed,
                      Optional<ResidualForecast> residual) {
    /** Name and version of the JSON form. */
    public static final String SCHEMA = "kinema.plan/1";

    public RunPlan {
        encodings = List.copyOf(encodings);
        conditions = List.copyOf(conditions);
        memory = List.copyOf(memory);
        scratch = Collections.unmodifiableSortedMap(new TreeMap<>(scratch));
        policies = List.copyOf(policies);
        time = List.copyOf(time);
    }

    /**
     * A keyframe or a reference.
     *
     * @param labels what the prompt calls it; a soundtrack's label stands in front of its video's
     * @param role   {@code first keyframe}, {@code video+sound}, ...
     */
    public record Condition(List<String> labels, String role, Path file) {
        public Condition {
            labels = List.copyOf(labels);
        }
    }

    /**
     * Memory that the process holds while a stage runs; all of it on the CPU.
     *
     * @param weights networks used up to here, with the copies that their precision needs
     * @param scratch intermediates: this stage's, and what earlier stages keep for the next request
     * @param heap    frames, latents and the Java process itself
     */
    public record StageMemory(Stage stage, long weights, long scratch, long heap) {
        public long bytes() {
            return weights + scratch + heap;
        }
    }

    /**
     * What a request takes at most under a way of keeping weights: rounded up, so that what is said to fit does.
     *
     * @param offload        what is kept on the device at a time; empty keeps all
     * @param residentLayers of the transformer
     * @param host           what the host reads weights from
     * @param deviceBytes    on a device; 0 where it is the host
     * @param hostBytes      of host memory, mapped files left out, which the system can drop
     */
    public record Residency(Optional<WeightResidency> offload, int residentLayers, HostWeights host, long deviceBytes, long hostBytes) {
        /** For a person: {@code layer, 3 resident}. */
        public String label() {
            return offload.map(o -> o == WeightResidency.LAYER ? o.label() + ", " + residentLayers + " resident" : o.label()).orElse("none");
        }
    }

    /**
     * Time of a stage.
     *
     * @param seconds      the estimate; empty when nothing is known
     * @param low          the fastest that was measured, scaled
     * @param high         the slowest that was measured, scaled
     * @param measurements how many runs of this machine it rests on; 0 when it is derived from a probe
     */
    public record StageEstimate(Stage stage, OptionalDouble seconds, double low, double high, int measurements) {
    }

    /** Model evaluations of all outputs. */
    public int evaluations() {
        return request.steps() * request.outputs();
    }

    /** The most that any stage holds. */
    public long peakBytes() {
        return memory.stream().mapToLong(StageMemory::bytes).max().orElse(0);
    }

    /** Sum of the stages that are known. */
    public double seconds() {
        return time.stream().mapToDouble(t -> t.seconds().orElse(0)).sum();
    }

    /** How far {@link #seconds()} can be trusted, in a few words. */
    public String certainty() {
        int least = time.stream().mapToInt(StageEstimate::measurements).min().orElse(0);
        if (least > 0) {
            return "measured " + least + (least == 1 ? " time" : " times") + " on this machine";
        }
        boolean some = time.stream().anyMatch(t -> t.measurements() > 0);
        return (some ? "partly measured on this machine" : "a lower bound from a probe of matrix products")
                + "; make one clip to know better";
    }

    /** The JSON form; a tree of its own. */
    public JsonNode toJson() {
        return RunPlanJson.of(this);
    }
}
