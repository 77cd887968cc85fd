package io.kinema.engine.pipeline;

import io.kinema.compute.Backend;
import io.kinema.compute.BackendReport;
import io.kinema.compute.collective.BackendGroup;
import io.kinema.compute.collective.RowReduction;
import io.kinema.engine.GraphReplay;
import io.kinema.engine.Latents;
import io.kinema.engine.Stage;
import io.kinema.engine.layout.LatentShape;
import io.kinema.engine.layout.PackedLayout;
import io.kinema.engine.record.RankRecord;
import io.kinema.engine.record.UsefulWork;
import io.kinema.model.dit.RankMeter;
import io.kinema.model.dit.Transformer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Owns one request under way until it is closed: its encoded text and conditions and its denoising plan, which all its
 * outputs share. Closing twice is harmless; the model's parts must outlive it. Used by one thread.
 */
public final class H3Pipeline implements AutoCloseable {
    private final ModelParts parts;
    private final Backend backend;
    private final PipelineInput input;
    private final Conditions conditions;
    private final PackedLayout layout;
    private final TextStates text;
    private final GraphReplay replay;
    private DenoisePlan plan;

    private H3Pipeline(ModelParts parts, PipelineInput input, Clock clock, PipelineTap tap, GraphReplay replay) {
        this.replay = replay;
        this.parts = parts;
        this.backend = parts.backend();
        parts.prepareWeights(input.task(), input.adapters(), input.media(), clock);
        load(input, clock);
        this.input = input.withMedia(LatentFrames.decoded(parts, input.media(), clock));
        MediaTap.show(this.input.media(), tap);
        this.text = clock.stage(Stage.TEXT_ENCODING, () -> TextStage.encode(parts, this.input.prompt(), this.input.media(), tap));
        this.conditions = encodeConditions(clock, tap);
        this.layout = layout(this.input, text, conditions);
        tapLayout(layout, tap);
    }

    /** Runs the stages that all outputs share, up to the denoising. Nothing is replayed for a tap that looks. */
    public static H3Pipeline prepare(ModelParts parts, PipelineInput input, Clock clock, PipelineTap tap, GraphReplay replay) {
        return new H3Pipeline(parts, input, clock, tap, replay);
    }

    /**
     * What one output became.
     *
     * @param frames  bytes (row, column, RGB), in order
     * @param left    samples in [-1, 1]
     * @param right   as many
     * @param latents normalised
     * @param ranks   what each device did in the denoising
     */
    public record Made(List<byte[]> frames, float[] left, float[] right, Latents latents, List<RankRecord> ranks) {
    }

    /** Denoises and decodes the output with this seed. */
    public Made make(long seed, Clock clock, PipelineTap tap) {
        return make(seed, clock, tap, StepKeeper.NONE);
    }

    /** Denoises and decodes the output with this seed, from the step that the keeper has kept. */
    public Made make(long seed, Clock clock, PipelineTap tap, StepKeeper keeper) {
        Latents latents;
        Denoised rows = clock.stage(Stage.DENOISING, () -> denoise(seed, clock, tap, keeper));
        latents = latents(rows);
        tap.floats("latents", latents.video(), latents.videoShape());
        tap.floats("audio_latents", latents.audio(), latents.audioShape());
        List<byte[]> frames = clock.stage(Stage.VIDEO_DECODING,
                () -> VideoStage.decode(backend, parts.videoDecoder(), latents.video(), input.videoShape(), clock, tap));
        List<float[]> sound = clock.stage(Stage.AUDIO_DECODING,
                () -> SoundStage.decode(backend, parts.audioDecoder(), latents.audio(), input.target().audioLatents(), tap));
        return new Made(frames, sound.get(0), sound.get(1), latents, rows.ranks());
    }

    /** Rows of the packed sequence. @throws IllegalStateException before the first output */
    public UsefulWork.Rows rows() {
        if (plan == null) {
            throw new IllegalStateException("pipeline: nothing was denoised yet, rows are known after the first output");
        }
        return plan.rows();
    }

    private void load(PipelineInput input, Clock clock) {
        clock.stage(Stage.LOADING, () -> {
            parts.tokenizer();
            if (parts.oneNetworkAtATime()) {
                return null;
            }
            parts.textEncoder();
            parts.transformer(input.task(), input.adapters());
            parts.videoDecoder();
            parts.audioDecoder();
            if (!(input.media() instanceof ConditionMedia.None)) {
                parts.videoEncoder();
            }
            return null;
        });
    }

    private Conditions encodeConditions(Clock clock, PipelineTap tap) {
        return input.media() instanceof ConditionMedia.None ? Conditions.NONE
                : clock.stage(Stage.CONDITION_ENCODING, () -> ConditionEncoder.encode(parts, input.media(), clock, tap));
    }

    private static PackedLayout layout(PipelineInput input, TextStates text, Conditions conditions) {
        return switch (input.media()) {
            case ConditionMedia.None _ -> PackedLayout.ofKeyframes(text.tags(), input.target(), input.patch(), List.of());
            case ConditionMedia.Keyframes keyframes -> PackedLayout.ofKeyframes(text.tags(), input.target(), input.patch(),
                    keyframes.keyframes().stream().map(ConditionMedia.Keyframe::anchor).toList());
            case ConditionMedia.References references -> PackedLayout.ofReferences(text.tags(), input.target(), input.patch(),
                    conditions.blocks(references, input.audioChannels()));
        };
    }

    private record Denoised(float[] video, float[] audio, List<RankRecord> ranks) {
    }

    private Denoised denoise(long seed, Clock clock, PipelineTap tap, StepKeeper keeper) {
        long start = System.nanoTime();
        Transformer dit = parts.transformer(input.task(), input.adapters());
        List<RankMeter> before = dit.meters();
        if (plan != null && plan.dit() != dit) {
            plan.close();
            plan = null;
        }
        if (plan == null) {
            plan = DenoisePlan.of(backend, dit, layout, text.hidden(), input.video(), input.audio(), tap.looks(), replay);
        }
        StartRows rows = StartRows.draw(input, conditions, seed);
        List<RankMeter> prepared = dit.meters();
        DenoisePlan.Denoised done = plan.run(rows.video(), rows.audio(), clock, tap, keeper);
        return new Denoised(done.video(), done.audio(), ranks((System.nanoTime() - start) / 1e9, before, prepared, dit.meters(), done));
    }

    /** What each rank did since {@code before}. */
    private List<RankRecord> ranks(double seconds, List<RankMeter> before, List<RankMeter> prepared, List<RankMeter> after, DenoisePlan.Denoised loop) {
        BackendGroup group = parts.ranks();
        List<RankRecord> ranks = new ArrayList<>();
        for (int rank = 0; rank < group.size(); rank++) {
            BackendReport report = group.backends().get(rank).report();
            RankMeter done = after.get(rank).minus(before.get(rank));
            long lent = done.rowReductions().map(RowReduction.Report::bufferBytes).orElse(0L);
            ranks.add(new RankRecord(rank, group.backends().get(rank).device().toString(), report.facts(), seconds,
                    prepared.get(rank).minus(before.get(rank)).work(), loop.steps().get(rank), report.peakDeviceBytes(),
                    report.peakCommunicationBytes() + group.bufferBytes().get(rank) + lent, done.traffic(), done.rowReductions(),
                    done.staging()));
        }
        return ranks;
    }

    private Latents latents(Denoised rows) {
        LatentShape shape = input.videoShape();
        int audioLatents = input.target().audioLatents();
        float[] video = Arrays.copyOfRange(rows.video(), rows.video().length - shape.elements(), rows.video().length);
        int audioValues = audioLatents * PackedLayout.AUDIO_CHANNELS * input.audioChannels();
        float[] audio = Arrays.copyOfRange(rows.audio(), rows.audio().length - audioValues, rows.audio().length);
        return new Latents(input.patch().unpatchify(video, shape),
                new long[] {1, shape.channels(), shape.frames(), shape.height(), shape.width()},
                Rows.toAudioLatents(audio, audioLatents, input.audioChannels()),
                new long[] {PackedLayout.AUDIO_CHANNELS, input.audioChannels(), audioLatents});
    }

    private static void tapLayout(PackedLayout layout, PipelineTap tap) {
        if (tap.looks()) {
            tap.doubles("position_ids", layout.positions(), layout.rows(), 3);
            tap.ints("token_tags", layout.tags(), layout.rows());
            tap.ints("video_indices", layout.videoIndices(), layout.videoIndices().length);
            tap.ints("audio_indices", layout.audioIndices(), layout.audioIndices().length);
            tap.ints("text_indices", layout.textIndices(), layout.textRows());
        }
    }

    @Override
    public void close() {
        if (plan != null) {
            plan.close();
            plan = null;
        }
    }
}
