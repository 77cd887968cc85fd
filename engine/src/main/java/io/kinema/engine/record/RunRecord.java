package io.kinema.engine.record;

import com.fasterxml.jackson.databind.JsonNode;
import io.kinema.engine.layout.FrameCounts;
import io.kinema.engine.plan.ResolvedRequest;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * How one clip came to be: enough to make it again and to say where the time went. {@link #toJson()} is {@code clip.json}.
 *
 * @param created    when the clip was finished
 * @param request    with every default
 * @param output     which of the request's outputs
 * @param model      what made it
 * @param engine     versions of this engine and its native libraries
 * @param host       the machine
 * @param execution  how it ran
 * @param schedule   the noise levels
 * @param stages     in order
 * @param steps      one for each model evaluation
 * @param rows       of the packed sequence
 * @param memory     peaks
 * @param sound      measured on the finished sound
 * @param warnings   what a user should look at
 */
public record RunRecord(Instant created, ResolvedRequest request, Output output, Model model, Engine engine, HostFacts host,
                        Execution execution, Schedule schedule, List<StageTime> stages, List<StepTime> steps,
                        UsefulWork.Rows rows, Memory memory, SoundReport sound, List<String> warnings) {
    /** Name and version of the JSON form. */
    public static final String SCHEMA = "kinema.run/1";

    public RunRecord {
        stages = List.copyOf(stages);
        steps = List.copyOf(steps);
        warnings = List.copyOf(warnings);
    }

    /**
     * @param index 0 to outputs - 1
     * @param seed  of this output
     */
    public record Output(int index, long seed) {
    }

    /**
     * @param name        name of the model's folder
     * @param transformer component that ran: {@code transformer} or {@code transformer_ref}
     * @param sha256      over the digests of all its files
     * @param transformerSha256 the same of the transformer that ran, which may come from elsewhere
     */
    public record Model(String name, String transformer, String sha256, String transformerSha256) {
    }

    /**
     * @param version   of Kinema
     * @param libraries native libraries and their versions
     */
    public record Engine(String version, SortedMap<String, String> libraries) {
    }

    /**
     * @param device    {@code cpu}
     * @param backend   which implementation
     * @param precision label of the precision plan
     * @param threads   compute threads
     * @param choices   what the backend chose where it had a choice: kernels by shape, plans
     */
    public record Execution(String device, String backend, String precision, int threads, SortedMap<String, String> choices) {
        public Execution {
            choices = Collections.unmodifiableSortedMap(new TreeMap<>(choices));
        }

        /** A backend without choices. */
        public Execution(String device, String backend, String precision, int threads) {
            this(device, backend, precision, threads, new TreeMap<>());
        }
    }

    /** Noise levels of both schedules, first to last; the last is 0. */
    public record Schedule(List<Float> sigmas, List<Float> audioSigmas) {
    }

    /**
     * @param peakResidentBytes  of the process, 0 when unknown
     * @param scratchBytes       the most that each network ever allocated for intermediates at once
     */
    public record Memory(long peakResidentBytes, SortedMap<String, Long> scratchBytes) {
    }

    /** Useful work of the denoising loop. */
    public double usefulFlops() {
        return steps.stream().mapToDouble(StepTime::usefulFlops).sum();
    }

    /** Wall-clock time of all stages. */
    public double seconds() {
        return stages.stream().mapToDouble(StageTime::seconds).sum();
    }

    /** The JSON form; a tree of its own. */
    public JsonNode toJson() {
        return RunRecordJson.of(this);
    }

    /** {@link #toJson()} as indented text that ends with a line break. */
    public String toText() {
        return toJson().toPrettyString() + System.lineSeparator();
    }

    /** Rate of the video. */
    public int framesPerSecond() {
        return FrameCounts.FPS;
    }
}
