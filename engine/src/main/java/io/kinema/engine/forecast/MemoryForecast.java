package io.kinema.engine.forecast;

import io.kinema.compute.Precision;
import io.kinema.engine.Stage;
import io.kinema.engine.layout.FrameCounts;
import io.kinema.engine.layout.PackedLayout;
import io.kinema.engine.plan.ResolvedAdapter;
import io.kinema.engine.plan.ResolvedRequest;
import io.kinema.engine.record.UsefulWork;
import io.kinema.weights.DType;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Adds up what the process holds in each stage. Networks stay loaded and keep their scratch memory, so later stages hold
 * what earlier ones needed too.
 */
final class MemoryForecast {
    /** The Java process with its libraries, before any weight: measured, and good to some tens of megabytes. */
    private static final long PROCESS = 180L << 20;
    /** Heap that the collector lets fill before it collects, beside what is kept. */
    private static final double GARBAGE = 1.5;
    /** Frames as a file holds them are garbage once they are scaled; the collector lets about this much of it lie. */
    private static final long MOST_SOURCE = 256L << 20;
    /** A workspace takes memory in steps that double up to this size, so it may hold half a step more than is in use. */
    private static final long STEP = 64L << 20;

    private final ModelSizes sizes;
    private final Precision precision;
    private final ResolvedRequest request;
    private final Sequence sequence;
    private final int timesteps;
    private final int ranks;
    private final Optional<ResidualForecast> residual;
    private final int textRanks;
    private final List<RunPlan.StageMemory> stages = new ArrayList<>();
    private long weights;
    private long scratch;

    /**
     * @param timesteps distinct ones of both schedules
     * @param ranks     that share the networks
     * @param residual  how they share the residual rows, if they do
     */
    MemoryForecast(ModelSizes sizes, Precision precision, ResolvedRequest request, Sequence sequence, int timesteps, int ranks,
                   Optional<ResidualForecast> residual) {
        this.sizes = sizes;
        this.precision = precision;
        this.request = request;
        this.sequence = sequence;
        this.timesteps = timesteps;
        this.ranks = ranks;
        this.residual = residual.filter(_ -> ranks > 1);
        this.textRanks = sizes.text().text().ranksOf(ranks);
    }

    List<RunPlan.StageMemory> stages() {
        stage(Stage.LOADING, audioCopies(), 0, 0);
        stage(Stage.TEXT_ENCODING, network(sizes.textWeights()), text(), conditions());
        if (!sequence.pictures().isEmpty() || !sequence.sounds().isEmpty() || !sequence.latentFrames().isEmpty()) {
            stage(Stage.CONDITION_ENCODING, sizes.videoWeights().bytes() / 2, encoders(), conditions());
        }
        stage(Stage.DENOISING, network(sizes.ditWeights()), transformer(), conditions());
        stage(Stage.VIDEO_DECODING, sequence.pictures().isEmpty() ? sizes.videoWeights().bytes() : sizes.videoWeights().bytes() / 2,
                extra(decoder(generated()), decodersBefore()), conditions() + clip());
        stage(Stage.AUDIO_DECODING, 0, ScratchSizes.audioDecoder(sizes.audio(), request.audioLatents()), conditions() + clip());
        return List.copyOf(stages);
    }

    /** The most that each stage has in use of intermediates. */
    Map<Stage, Long> scratchByStage() {
        Map<Stage, Long> bytes = new EnumMap<>(Stage.class);
        bytes.put(Stage.TEXT_ENCODING, text());
        bytes.put(Stage.CONDITION_ENCODING, encoders());
        bytes.put(Stage.DENOISING, transformer());
        bytes.put(Stage.VIDEO_DECODING, decoder(generated()));
        bytes.put(Stage.AUDIO_DECODING, ScratchSizes.audioDecoder(sizes.audio(), request.audioLatents()));
        return bytes;
    }

    /** What operations on a device take at most: BF16 attention has its values in FP16 too, of which the transformer has the most. */
    long operations() {
        return precision.operand() == DType.BF16 ? ScratchSizes.narrowValues(sizes.dit(), total(sequence.rows())) : 0;
    }

    /** The process with the frames and samples that it holds at most. */
    long heap() {
        return PROCESS + (long) (GARBAGE * (conditions() + clip())) + Math.min(MOST_SOURCE, sequence.sourceBytes());
    }

    /** Scratch that every network has in use at most, as run records name and measure it. */
    SortedMap<String, Long> scratchByNetwork() {
        SortedMap<String, Long> bytes = new TreeMap<>();
        bytes.put("transformer", step());
        bytes.put("text_encoder", text());
        bytes.put("vae", Math.max(decoder(generated()),
                sequence.pictures().stream().mapToLong(p -> ScratchSizes.videoEncoder(sizes.video(), p, ranks)).max().orElse(0)));
        bytes.put("audio_vae", Math.max(ScratchSizes.audioDecoder(sizes.audio(), request.audioLatents()),
                sequence.sounds().stream().mapToLong(s -> ScratchSizes.audioEncoder(sizes.audio(), s)).max().orElse(0)));
        return bytes;
    }

    private void stage(Stage stage, long moreWeights, long moreScratch, long held) {
        weights += moreWeights;
        scratch += moreScratch + Math.min(moreScratch, STEP) / 2;
        stages.add(new RunPlan.StageMemory(stage, weights, scratch, PROCESS + (long) (GARBAGE * held) + Math.min(MOST_SOURCE, sequence.sourceBytes())));
    }

    /** A network's pages, and the 16-bit copies of its float matrices where the precision plan rounds what is stored otherwise. */
    private long network(ModelSizes.Weights stored) {
        return stored.bytes() + (precision == Precision.FP32 ? 0 : 2 * stored.floats());
    }

    /** The audio VAE folds its weight norms into copies when it is loaded. */
    private long audioCopies() {
        return 2 * sizes.audioWeights().bytes();
    }

    private long text() {
        return ScratchSizes.text(sizes.text().text(), sizes.text().vision(), sequence.layout().textRows(), sequence.imagePatches(),
                sequence.videoPatches(), precision, textRanks);
    }

    private long encoders() {
        return sequence.pictures().stream().mapToLong(p -> ScratchSizes.videoEncoder(sizes.video(), p, ranks)).max().orElse(0)
                + sequence.sounds().stream().mapToLong(s -> ScratchSizes.audioEncoder(sizes.audio(), s)).max().orElse(0) + decodersBefore();
    }

    private long decodersBefore() {
        return sequence.latentFrames().stream().mapToLong(this::decoder).max().orElse(0);
    }

    private static long extra(long needed, long there) {
        return Math.max(0, needed - there);
    }

    private long decoder(Sequence.Decoded latents) {
        return ScratchSizes.videoDecoder(sizes.video(), latents, ranks);
    }

    private Sequence.Decoded generated() {
        return new Sequence.Decoded(request.latentFrames(), request.latentHeight(), request.latentWidth());
    }

    /** Modulation tables, adapters' matrices and the buffers of reductions stay beside an evaluation's scratch. */
    private long transformer() {
        return step() + ranks * deltas().matrices() + ScratchSizes.modulation(sizes.dit(), timesteps, ranks) + ranks * residual.map(ResidualForecast::bufferBytes).orElse(0L);
    }

    private long step() {
        UsefulWork.Rows rows = sequence.rows();
        long wanted = rows.generatedVideo() + rows.generatedAudio();
        return residual.map(shared -> ScratchSizes.transformer(sizes.dit(), shared.shares(), wanted, precision, rotated(), deltas()))
                .orElseGet(() -> ScratchSizes.transformer(sizes.dit(), total(rows), wanted, precision, rotated(), deltas(), ranks));
    }

    private DeltaScratch deltas() {
        return new DeltaScratch(request.adapters().stream().filter(ResolvedAdapter::active).map(ResolvedAdapter::reach).toList(), precision);
    }

    private boolean rotated() {
        return sizes.ditWeights().encodings().rotated();
    }

    private static long total(UsefulWork.Rows rows) {
        return (long) rows.text() + rows.video() + rows.audio();
    }

    /** Pixels and samples of what conditions the clip. */
    private long conditions() {
        return sequence.pictures().stream().mapToLong(p -> 3L * p.frames() * p.height() * p.width()).sum()
                + sequence.sounds().stream().mapToLong(s -> (long) PackedLayout.AUDIO_CHANNELS * Float.BYTES * s).sum();
    }

    /** Frames and samples of one output. */
    private long clip() {
        return 3L * request.frames() * request.width() * request.height()
                + (long) (PackedLayout.AUDIO_CHANNELS * Float.BYTES * (double) request.frames() / FrameCounts.FPS * sizes.audio().samplingRate());
    }
}
