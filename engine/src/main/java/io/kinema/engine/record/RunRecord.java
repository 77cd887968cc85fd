package io.kinema.engine.record;

import com.fasterxml.jackson.databind.JsonNode;
import io.kinema.compute.Fallback;
import io.kinema.compute.MatrixLayout;
import io.kinema.engine.RankOptions;
import io.kinema.engine.layout.FrameCounts;
import io.kinema.engine.plan.ResolvedRequest;
import io.kinema.model.load.HostWeights;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * How one clip came to be: enough to make it again and to say where the time went. {@link #toJson()} is {@code clip.json}.
 *
 * @param created    when the clip was finished
 * @param session    which engine made it, and when in its life
 * @param request    with every default
 * @param defaults   names of the request's and the options' fields that were left to a default
 * @param output     which of the request's outputs
 * @param model      what made it
 * @param engine     versions and hashes of this engine, its Java and its native libraries
 * @param host       the machine
 * @param execution  how it ran
 * @param schedule   the noise levels
 * @param stages     in order
 * @param rows       of the packed sequence
 * @param ranks      what each device did; one without tensor parallelism
 * @param memory     peaks of the process
 * @param kernelCompilations kernels compiled while the request ran; 0 where all were prepared
 * @param fallbacks  what ran in another way than asked for
 * @param sound      measured on the finished sound
 * @param warnings   what a user should look at
 */
public record RunRecord(Instant created, Session session, ResolvedRequest request, List<String> defaults, Output output, Model model, Engine engine, HostFacts host,
                        Execution execution, Schedule schedule, List<StageTime> stages, UsefulWork.Rows rows, List<RankRecord> ranks,
                        Memory memory, long kernelCompilations, List<Fallback> fallbacks, SoundReport sound, List<String> warnings) {
    /** Name and version of the JSON form. */
    public static final String SCHEMA = "kinema.run/2";

    public RunRecord {
        stages = List.copyOf(stages);
        defaults = List.copyOf(defaults);
        ranks = List.copyOf(ranks);
        fallbacks = List.copyOf(fallbacks);
        warnings = List.copyOf(warnings);
    }

    /**
     * @param engine   random name of the engine that made it, the same for all requests of its life
     * @param request  how many requests it had served before
     * @param captured whether somebody looked at intermediates, which costs time
     */
    public record Session(String engine, int request, boolean captured) {
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
     * @param transformerEncodings how its matrices are stored, the encoding with the most values first
     */
    public record Model(String name, String transformer, String sha256, String transformerSha256, List<String> transformerEncodings) {
        public Model {
            transformerEncodings = List.copyOf(transformerEncodings);
        }
    }

    /**
     * @param installation the code that ran
     * @param libraries    native libraries and their versions
     * @param nativeFiles  the native libraries by content
     */
    public record Engine(Installation installation, SortedMap<String, String> libraries, List<NativeLibrary> nativeFiles) {
        /** Of Kinema. */
        public String version() {
            return installation.version();
        }
    }

    /**
     * @param device    {@code cpu}; one for each rank when they are GPUs, {@code cuda:0,1}
     * @param backend   which implementation
     * @param precision label of the precision plan
     * @param threads   compute threads of all ranks
     * @param ranks     how the model was spread
     * @param fp16WeightLayout in which order the transformer's FP16 matrices lay; empty in plans that have none
     * @param choices   what the backend chose where it had a choice: kernels by shape, plans
     */
    public record Execution(String device, String backend, String precision, int threads, RankOptions ranks, Optional<MatrixLayout> fp16WeightLayout,
                            SortedMap<String, String> choices) {
        public Execution {
            choices = Collections.unmodifiableSortedMap(new TreeMap<>(choices));
        }

        /** A backend without choices. */
        public Execution(String device, String backend, String precision, int threads, RankOptions ranks, Optional<MatrixLayout> fp16WeightLayout) {
            this(device, backend, precision, threads, ranks, fp16WeightLayout, new TreeMap<>());
        }
    }

    /** Noise levels of both schedules, first to last; the last is 0. */
    public record Schedule(List<Float> sigmas, List<Float> audioSigmas) {
    }

    /**
     * @param peakResidentBytes  of the process, 0 when unknown
     * @param scratchBytes       the most that each network ever allocated for intermediates at once
     * @param weights            where they lived
     */
    public record Memory(long peakResidentBytes, SortedMap<String, Long> scratchBytes, Weights weights) {
    }

    /**
     * @param offload   what was kept on the device at a time: {@code none} (everything), {@code component} or {@code layer}
     * @param host      what host memory they were read from
     * @param hostBytes of copies in host memory, pageable or page-locked; 0 where they were read from mapped files
     */
    public record Weights(String offload, HostWeights host, long hostBytes) {
    }

    /** Useful work of the denoising on all ranks, as it was executed. */
    public long usefulFlops() {
        return ranks.stream().mapToLong(RankRecord::usefulFlops).sum();
    }

    /** The model evaluations, as the first rank saw them. */
    public List<StepRecord> steps() {
        return ranks.getFirst().steps();
    }

    /** Wall-clock time of the slowest rank's complete denoising. */
    public double denoiseSeconds() {
        return ranks.stream().mapToDouble(RankRecord::denoiseSeconds).max().orElse(0);
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
