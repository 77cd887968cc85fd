package io.kinema.engine.pipeline;

import io.kinema.compute.Backend;
import io.kinema.compute.Tensor;
import io.kinema.compute.TimeMark;
import io.kinema.compute.Workspace;
import io.kinema.engine.GraphReplay;
import io.kinema.engine.Progress;
import io.kinema.engine.Stage;
import io.kinema.engine.layout.PackedLayout;
import io.kinema.engine.record.StepRecord;
import io.kinema.engine.record.UsefulWork;
import io.kinema.engine.schedule.RowTimesteps;
import io.kinema.engine.schedule.SigmaGrid;
import io.kinema.engine.telemetry.StepEvent;
import io.kinema.model.FiniteCheck;
import io.kinema.model.dit.DitConfig;
import io.kinema.model.dit.DitLayout;
import io.kinema.model.dit.DitSequence;
import io.kinema.model.dit.Modulation;
import io.kinema.model.dit.RankMeter;
import io.kinema.model.dit.Transformer;
import io.kinema.model.dit.Velocities;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;

/**
 * Owns what all outputs of a request share in the denoising loop (refined text, rotary tables, the modulation of every
 * timestep of both schedules, row buffers) until it is closed; closing twice is harmless. The transformer must outlive it.
 */
public final class DenoisePlan implements AutoCloseable {
    private final Backend backend;
    private final Transformer dit;
    private final PackedLayout layout;
    private final SigmaGrid videoGrid;
    private final SigmaGrid audioGrid;
    private final List<float[]> rowTimesteps;
    private final boolean allVelocities;
    private final UsefulWork.Rows rows;
    private final Workspace memory;
    private final DitSequence sequence;
    private final Modulation modulation;
    private final Tensor videoRows;
    private final Tensor audioRows;
    private final Velocities velocities;
    private final Evaluations evaluations;

    private DenoisePlan(Backend backend, Transformer dit, PackedLayout layout, float[] text, SigmaGrid videoGrid, SigmaGrid audioGrid,
                        boolean allVelocities, GraphReplay replay, Workspace memory) {
        this.backend = backend;
        this.dit = dit;
        this.layout = layout;
        this.videoGrid = videoGrid;
        this.audioGrid = audioGrid;
        this.allVelocities = allVelocities;
        this.memory = memory;
        List<RowTimesteps> plan = RowTimesteps.plan(layout, videoGrid, audioGrid);
        this.rowTimesteps = plan.stream().map(DenoisePlan::perRow).toList();
        DitConfig config = dit.config();
        DitLayout packed = packed();
        this.rows = new UsefulWork.Rows(packed.textRows(), packed.videoRows(), packed.videoRows() - layout.conditionVideoRows(),
                packed.audioRows(), packed.audioRows() - layout.conditionAudioRows());
        this.videoRows = memory.f32(packed.videoRows(), config.videoPatchDim());
        this.audioRows = memory.f32(packed.audioRows(), config.audioChannels());
        this.velocities = Velocities.allocate(memory, config, packed);
        this.modulation = dit.modulation(distinct(plan.stream().map(RowTimesteps::distinct).toList()));
        try {
            this.sequence = dit.prepare(packed, Tensor.ofFloats(text, packed.textRows(), config.textDim()));
        } catch (RuntimeException e) {
            modulation.close();
            throw e;
        }
        this.evaluations = new Evaluations(dit, sequence, modulation, videoRows, audioRows, velocities, allVelocities ? GraphReplay.OFF : replay);
    }

    /**
     * @param backend       of the transformer's first rank
     * @param text          FP32 [text rows, width], the text encoder's hidden states
     * @param allVelocities also compute the velocities of condition rows, which only a tap looks at; nothing is replayed then
     */
    public static DenoisePlan of(Backend backend, Transformer dit, PackedLayout layout, float[] text, SigmaGrid videoGrid,
                                 SigmaGrid audioGrid, boolean allVelocities, GraphReplay replay) {
        Workspace memory = backend.workspace("denoising rows");
        try {
            return new DenoisePlan(backend, dit, layout, text, videoGrid, audioGrid, allVelocities, replay, memory);
        } catch (RuntimeException e) {
            memory.close();
            throw e;
        }
    }

    /** The transformer it was made for. */
    Transformer dit() {
        return dit;
    }

    /** Rows of the packed sequence. */
    public UsefulWork.Rows rows() {
        return rows;
    }

    /**
     * What a loop made.
     *
     * @param video rows, conditions first
     * @param audio rows, conditions first
     * @param steps what each step took, rank by rank
     */
    public record Denoised(float[] video, float[] audio, List<List<StepRecord>> steps) {
    }

    /**
     * Runs the loop.
     *
     * @param video start rows, conditions first; changed in place
     * @param audio start rows, sound references first; changed in place
     */
    public Denoised run(float[] video, float[] audio, Clock clock, PipelineTap tap) {
        return run(video, audio, clock, tap, StepKeeper.NONE);
    }

    /**
     * Runs the loop, or what is left of it.
     *
     * @param keeper gives the state to go on from, and hears of every step; a state of other sizes is not used
     */
    public Denoised run(float[] video, float[] audio, Clock clock, PipelineTap tap, StepKeeper keeper) {
        tapRows(0, video, audio, tap);
        RankSteps steps = new RankSteps(dit.meters().size(), videoGrid, audioGrid);
        keeper.restore().filter(saved -> fits(saved, video, audio)).ifPresent(saved -> {
            System.arraycopy(saved.video(), 0, video, 0, video.length);
            System.arraycopy(saved.audio(), 0, audio, 0, audio.length);
            saved.seconds().forEach(steps::restored);
        });
        int first = steps.done();
        long loop = System.nanoTime();
        for (int i = first; i < videoGrid.evaluations(); i++) {
            clock.check(Stage.DENOISING);
            List<RankMeter> before = dit.meters();
            List<StepEvent> events = StepEvent.begun(before.size());
            long start = System.nanoTime();
            Evaluated evaluated = evaluate(i, video, audio, tap);
            step(i, video, audio);
            tapRows(i + 1, video, audio, tap);
            List<StepRecord> done = steps.finished((System.nanoTime() - start) / 1e9, evaluated.deviceSeconds(), evaluated.enqueueSeconds(), evaluated.replayed(),
                    before, dit.meters());
            for (int rank = 0; rank < events.size(); rank++) {
                events.get(rank).finish(done.get(rank), videoGrid.evaluations(), rank);
            }
            tell(clock, i + 1, i + 1 - first, System.nanoTime() - loop);
            keeper.finished(new SamplerState(i + 1, video, audio, steps.seconds()), videoGrid.evaluations());
        }
        return new Denoised(video, audio, steps.records());
    }

    private boolean fits(SamplerState saved, float[] video, float[] audio) {
        return saved.step() <= videoGrid.evaluations() && saved.video().length == video.length && saved.audio().length == audio.length;
    }

    private record Evaluated(double deviceSeconds, double enqueueSeconds, boolean replayed) {
    }

    private Evaluated evaluate(int i, float[] video, float[] audio, PipelineTap tap) {
        long start = System.nanoTime();
        try (TimeMark begin = backend.mark()) {
            boolean replayed = enqueue(i, video, audio);
            double enqueueSeconds = (System.nanoTime() - start) / 1e9;
            try (TimeMark end = backend.mark()) {
                backend.finish();
                tapVelocities(i, tap);
                return new Evaluated(end.secondsSince(begin), enqueueSeconds, replayed);
            }
        }
    }

    private boolean enqueue(int i, float[] video, float[] audio) {
        DitConfig config = dit.config();
        backend.copy(Tensor.ofFloats(video, rows.video(), config.videoPatchDim()), videoRows);
        backend.copy(Tensor.ofFloats(audio, rows.audio(), config.audioChannels()), audioRows);
        return evaluations.enqueue(rowTimesteps.get(i));
    }

    private void tapVelocities(int i, PipelineTap tap) {
        DitConfig config = dit.config();
        if (tap.looks()) {
            tap.floats("velocity_" + i, HostCopy.floats(backend, velocities.video()), 1, rows.video(), config.videoPatchDim());
            tap.floats("audio_velocity_" + i, HostCopy.floats(backend, velocities.audio()), 1, rows.audio(), config.audioChannels());
        }
    }

    /** Moves the generated rows of both modalities, each down its own schedule. */
    private void step(int i, float[] video, float[] audio) {
        float[] videoVelocity = generated(velocities.video(), layout.conditionVideoRows());
        float[] audioVelocity = generated(velocities.audio(), layout.conditionAudioRows());
        String where = "step " + (i + 1) + " of " + videoGrid.evaluations();
        try {
            FiniteValues.require(where + ", video velocity", videoVelocity);
            FiniteValues.require(where + ", audio velocity", audioVelocity);
        } catch (io.kinema.model.NonFiniteException e) {
            // Once more with a look at every block, which names the first one at fault.
            dit.forward(sequence, modulation, rowTimesteps.get(i), videoRows, audioRows, velocities, new FiniteCheck(backend, where));
            throw e;
        }
        apply(i, videoGrid, video, videoVelocity, layout.conditionVideoRows() * dit.config().videoPatchDim());
        apply(i, audioGrid, audio, audioVelocity, layout.conditionAudioRows() * dit.config().audioChannels());
    }

    private static void apply(int i, SigmaGrid grid, float[] rows, float[] velocity, int from) {
        float[] sample = Arrays.copyOfRange(rows, from, rows.length);
        grid.step(i).apply(sample, velocity);
        System.arraycopy(sample, 0, rows, from, sample.length);
    }

    private float[] generated(Tensor velocity, int conditions) {
        return HostCopy.floats(backend, allVelocities ? velocity.rows(conditions, velocity.size(0)) : velocity);
    }

    private void tapRows(int i, float[] video, float[] audio, PipelineTap tap) {
        if (tap.looks()) {
            tap.floats("video_rows_" + i, video.clone(), rows.video(), dit.config().videoPatchDim());
            tap.floats("audio_rows_" + i, audio.clone(), rows.audio(), dit.config().audioChannels());
        }
    }

    /** @param here steps done in this loop, of which {@code nanos} speaks */
    private void tell(Clock clock, int done, int here, long nanos) {
        int left = videoGrid.evaluations() - done;
        clock.tell(new Progress.StepFinished(done, videoGrid.evaluations(), Duration.ofNanos(nanos),
                Duration.ofNanos(nanos / here * left)));
    }

    private DitLayout packed() {
        DitLayout all = DitLayout.of(layout.positions(), layout.tags(), layout.textIndices(), layout.videoIndices(), layout.audioIndices());
        return allVelocities ? all : all.returning(
                IntStream.range(layout.conditionVideoRows(), all.videoRows()).toArray(),
                IntStream.range(layout.conditionAudioRows(), all.audioRows()).toArray());
    }

    private static float[] perRow(RowTimesteps plan) {
        float[] distinct = plan.distinct();
        int[] indices = plan.indices();
        float[] perRow = new float[indices.length];
        for (int i = 0; i < perRow.length; i++) {
            perRow[i] = distinct[indices[i]];
        }
        return perRow;
    }

    /** The timesteps of all steps, each once, rising. */
    private static float[] distinct(List<float[]> steps) {
        Set<Float> seen = new TreeSet<>();
        for (float t : Rows.join(steps)) {
            seen.add(t);
        }
        float[] distinct = new float[seen.size()];
        int n = 0;
        for (float t : seen) {
            distinct[n++] = t;
        }
        return distinct;
    }

    @Override
    public void close() {
        evaluations.close();
        sequence.close();
        modulation.close();
        memory.close();
    }
}
