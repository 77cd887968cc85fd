package io.kinema.model.dit;

import io.kinema.compute.Backend;
import io.kinema.compute.MatrixLayout;
import io.kinema.compute.NormOps.Rotary;
import io.kinema.compute.NormOps.RowModulation;
import io.kinema.compute.Precision;
import io.kinema.compute.Tensor;
import io.kinema.compute.Workspace;
import io.kinema.compute.collective.Communicator;
import io.kinema.model.StageTap;
import io.kinema.model.adapter.Adapter;
import io.kinema.model.layer.Attention;
import io.kinema.model.layer.Execution;
import io.kinema.model.layer.PreNormBlock;
import io.kinema.model.layer.RotaryTable;
import io.kinema.model.load.BlockStore;
import io.kinema.model.load.Parameters;
import io.kinema.model.load.Parameters.Rounding;
import io.kinema.model.load.StagingReport;
import io.kinema.model.load.WeightPlacement;
import io.kinema.model.load.WeightResidency;
import io.kinema.model.work.Work;
import io.kinema.model.work.WorkCounter;
import io.kinema.model.work.WorkPart;
import io.kinema.weights.DType;
import io.kinema.weights.TensorSource;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * Owns the H3 diffusion transformer's device memory until it is closed: one packed sequence of text, video and audio rows
 * goes through blocks of joint self-attention, and two heads read velocities from it.
 *
 * <p>The work of a request is split by what it depends on: {@link #prepare} once per request (text refinement, rotary
 * tables), {@link #modulation} once per set of timesteps (time embedding, all AdaLN tables), {@link #forward} once per
 * step. The residual stream is FP32 in every precision plan; the two input projections, the timestep MLP, the AdaLN
 * projections, the text projection and the two heads are FP32 throughout. Closing twice is harmless; the source must
 * outlive it. Used by one thread.
 */
public final class Dit implements AutoCloseable {
    private final Execution run;
    private final DitConfig config;
    private final Rounding rounding;
    private final Attention.Geometry geometry;
    private final Workspace weights;
    private final Projection videoIn;
    private final Projection audioIn;
    private final TokenRefiner refiner;
    private final ModulationInput modulationInput;
    private final AdaLayerNorm adaLayerNorm;
    private final BlockStore<PreNormBlock.Weights> blocks;
    private final Tensor outputNorm;
    private final Projection videoOut;
    private final Projection audioOut;
    private final Tensor firstNorm;
    private AdaptersInForce adapters = AdaptersInForce.NONE;

    private Dit(Backend backend, DitConfig config, Precision precision, Parameters p, WeightPlacement placement, Communicator ranks) {
        this.run = new Execution(backend, precision, backend.workspace("dit scratch"), new WorkCounter(), ranks);
        this.config = config;
        this.rounding = p.rounding();
        this.geometry = new Attention.Geometry(config.heads(), config.heads(), config.headDim(), config.qkNormEps(), false);
        this.weights = p.owner();
        this.videoIn = Projection.read(p, "proj_in", config.hidden(), config.videoPatchDim());
        this.audioIn = Projection.read(p, "audio_proj_in", config.hidden(), config.audioChannels());
        this.refiner = new TokenRefiner(backend, p, config, placement);
        this.modulationInput = config.curve().<ModulationInput>map(curve -> new TimeCurve(p, curve)).orElseGet(() -> new TimeEmbedding(p, config));
        this.adaLayerNorm = new AdaLayerNorm(backend, p, config, modulationInput.width());
        // It stays whatever becomes of the blocks: the first one's input is what a cache looks at to tell whether the others need to run.
        this.firstNorm = BlockWeights.norm1(p.under(name(0)), config);
        this.blocks = BlockStore.of(placement, backend, config.layers(), p, (reader, i) -> i == 0 ? BlockWeights.read(reader.under(name(i)), config, firstNorm)
                : BlockWeights.read(reader.under(name(i)), config));
        this.outputNorm = p.f32("norm_out.norm.weight", config.hidden());
        this.videoOut = Projection.read(p, "proj_out", config.videoPatchDim(), config.hidden());
        this.audioOut = Projection.read(p, "audio_proj_out", config.audioChannels(), config.hidden());
    }

    /** {@link #open(Backend, TensorSource, DitConfig, Precision, Rounding, MatrixLayout, WeightResidency)} with row-major matrices, all resident. */
    public static Dit open(Backend backend, TensorSource source, DitConfig config, Precision precision, Rounding rounding) {
        return open(backend, source, config, precision, rounding, MatrixLayout.ROW, WeightResidency.COMPONENT);
    }

    /**
     * @param source   tensors with the diffusers layout's names
     * @param rounding how the blocks' matrices are stored for products; the FP32 islands stay as in the file
     * @param layout    of the matrices that are rounded to FP16
     * @param residency of the blocks
     * @throws io.kinema.weights.BadWeightsException when a tensor is missing or does not fit the config
     */
    public static Dit open(Backend backend, TensorSource source, DitConfig config, Precision precision, Rounding rounding, MatrixLayout layout,
                           WeightResidency residency) {
        return open(backend, source, config, precision, rounding, layout, WeightPlacement.of(residency), Communicator.ALONE);
    }

    /** One rank's transformer with no block resident under layer residency, see {@link #open(Backend, TensorSource, DitConfig, Precision, Rounding, MatrixLayout, WeightPlacement, Communicator)}. */
    public static Dit open(Backend backend, TensorSource source, DitConfig config, Precision precision, Rounding rounding, MatrixLayout layout,
                           WeightResidency residency, Communicator ranks) {
        return open(backend, source, config, precision, rounding, layout, WeightPlacement.of(residency), ranks);
    }

    /**
     * One rank's transformer among several: it runs its share of the heads and of the feed-forward's channels and adds its results to the others', so
     * all ranks call the same methods with the same values and end with the same bits. Input projections, modulation and heads are run by every rank whole.
     *
     * @param placement of the blocks
     * @param ranks this rank's end of its group, on the thread that opens and uses this
     * @throws IllegalArgumentException when heads or channels cannot be shared out evenly
     */
    public static Dit open(Backend backend, TensorSource source, DitConfig config, Precision precision, Rounding rounding, MatrixLayout layout,
                           WeightPlacement placement, Communicator ranks) {
        Workspace owner = backend.workspace("dit weights");
        try {
            return new Dit(backend, config, precision, new Parameters(backend, source, owner, "", rounding, layout), placement, ranks);
        } catch (RuntimeException e) {
            owner.close();
            throw e;
        }
    }

    public DitConfig config() {
        return config;
    }

    /** The work executed since it was opened. A request's share is the difference of two counts. */
    public Work work() {
        return run.work().total();
    }

    /** What bringing blocks, refiner and AdaLN projections to where they are used has taken; call it after {@link Backend#finish()}. */
    public StagingReport staging() {
        StagingReport inBlocks = blocks.report();
        return inBlocks.plus(refiner.staging()).plus(adaLayerNorm.staging()).resident(inBlocks.residentBlocks());
    }

    public Precision precision() {
        return run.precision();
    }

    /** The most scratch memory that a step has used, in bytes. */
    public long peakScratchBytes() {
        return run.scratch().peakBytes();
    }

    /**
     * An adapter's matrices on this transformer's device, stored as its plan stores matrices. The base is not touched.
     *
     * @param adapter to be applied at run time
     * @throws io.kinema.weights.BadWeightsException when a matrix does not fit this transformer, or FP16
     */
    public LoadedAdapter load(Adapter adapter) {
        return LoadedAdapter.load(run.backend(), adapter, rounding);
    }

    /**
     * Chooses the adapters of the calls that follow, in the order in which their deltas are added; none of them for an empty
     * list, and a scale of 0 leaves its adapter out. A request's sequence, modulation and steps belong to one choice; a step with those of another is refused.
     *
     * @param chosen made by {@link #load} of this transformer; they must stay open while they are chosen
     */
    public void use(List<ScaledAdapter> chosen) {
        adapters = AdaptersInForce.of(chosen);
    }

    /** {@link #prepare(DitLayout, Tensor, StageTap)} without a tap. */
    public DitSequence prepare(DitLayout layout, Tensor text) {
        return prepare(layout, text, StageTap.NONE);
    }

    /**
     * Everything about a request that no step changes.
     *
     * @param text FP32 [text rows, textDim], the text encoder's hidden states in the layout's order; copied
     */
    public DitSequence prepare(DitLayout layout, Tensor text, StageTap tap) {
        requireRows("text states", text, layout.textRows(), config.textDim());
        Workspace memory = run.backend().workspace("dit request");
        try {
            Rotary rotary = rotary(layout, memory);
            tap.stage("rope_cos", rotary.cos());
            tap.stage("rope_sin", rotary.sin());
            run.work().validRows(layout.textRows());
            run.work().enter(WorkPart.TEXT);
            Tensor refined = refiner.forward(run, adapters, geometry, Execution.placed(run.backend(), memory, text), memory, tap);
            return new DitSequence(run.backend(), memory, adapters, layout, refined, rotary);
        } catch (RuntimeException e) {
            memory.close();
            throw e;
        }
    }

    /** {@link #modulation(float[], StageTap)} without a tap. */
    public Modulation modulation(float[] timesteps) {
        return modulation(timesteps, StageTap.NONE);
    }

    /**
     * Evaluates the AdaLN tables for every timestep that a request will use. The timestep MLP's and the projections' weights
     * are read for it, one block at a time, and given back: no step finds them in memory of this transformer.
     *
     * @param timesteps model times, 0 (noise) to 1 (clean); each is evaluated once however often it is named
     */
    public Modulation modulation(float[] timesteps, StageTap tap) {
        float[] distinct = distinct(timesteps);
        Workspace memory = run.backend().workspace("dit modulation");
        try (Workspace.Frame _ = run.scratch().frame()) {
            run.work().validRows(Long.MAX_VALUE);
            run.work().enter(WorkPart.MODULATION);
            Tensor input = modulationInput.forward(run, adapters, distinct, run.scratch(), tap);
            return adaLayerNorm.forward(run, adapters, distinct, input, memory, tap);
        } catch (RuntimeException e) {
            memory.close();
            throw e;
        }
    }

    /** {@link #forward(DitSequence, Modulation, float[], Tensor, Tensor, Velocities, StageTap)} without a tap. */
    public void forward(DitSequence sequence, Modulation modulation, float[] rowTimesteps, Tensor video, Tensor audio, Velocities out) {
        forward(sequence, modulation, rowTimesteps, video, audio, out, StageTap.NONE);
    }

    /**
     * One evaluation of the model.
     *
     * @param rowTimesteps the model time of every packed row, each among those of {@code modulation}
     * @param video        FP32 [video rows, videoPatchDim]: noisy and conditioning rows in the layout's order
     * @param audio        FP32 [audio rows, audioChannels]
     * @param out          receives the velocities of the wanted rows, see {@link Velocities#allocate}
     */
    public void forward(DitSequence sequence, Modulation modulation, float[] rowTimesteps, Tensor video, Tensor audio,
                        Velocities out, StageTap tap) {
        DitLayout layout = sequence.layout();
        requireRows("video rows", video, layout.videoRows(), config.videoPatchDim());
        requireRows("audio rows", audio, layout.audioRows(), config.audioChannels());
        if (!sequence.adapters().equals(adapters) || !modulation.adapters().equals(adapters)) {
            throw new IllegalStateException("dit forward: got a sequence or modulation made with other adapters than those in force, expected the same; prepare them again");
        }
        RowTables rows = RowTables.of(layout, modulation, rowTimesteps);
        try (Workspace.Frame _ = run.scratch().frame()) {
            RowIndex index = new RowIndex(Execution.upload(run.backend(), run.scratch(), rows.ada()),
                    Execution.upload(run.backend(), run.scratch(), rows.wantedOutput()));
            evaluate(sequence, modulation, index, video, audio, out, tap, Optional.of(rows));
        }
    }

    /** Table rows on the device: of every packed row in the blocks' tables, of every wanted row in the output norm's. */
    private record RowIndex(Tensor ada, Tensor wanted) {
    }

    /**
     * Records an evaluation for replay, where the backend can and the blocks stay on the device.
     *
     * @param video rows on the device; a replay reads what they hold then
     * @param audio likewise
     * @param out   written by every replay
     * @return owned by the caller; it dies with this transformer, the sequence and the modulation
     */
    public Optional<RecordedStep> record(DitSequence sequence, Modulation modulation, Tensor video, Tensor audio, Velocities out) {
        if (!blocks.staysPut()) {
            return Optional.empty();
        }
        DitLayout layout = sequence.layout();
        Workspace memory = run.backend().workspace("dit recorded step");
        RowIndex index = new RowIndex(memory.allocate(DType.I32, layout.rows()), memory.allocate(DType.I32, layout.wanted().length));
        try {
            Optional<Backend.Recording> recording = run.backend().record(() -> {
                try (Workspace.Frame _ = run.scratch().frame()) {
                    evaluate(sequence, modulation, index, video, audio, out, StageTap.NONE, Optional.empty());
                }
            });
            return recording.map(r -> new RecordedStep(run.backend(), memory, r, index.ada(), index.wanted(), layout, modulation));
        } catch (RuntimeException e) {
            memory.close();
            throw e;
        }
    }

    /** The evaluation itself: enqueues only. @param rows what only a tap looks at */
    private void evaluate(DitSequence sequence, Modulation modulation, RowIndex index, Tensor video, Tensor audio, Velocities out, StageTap tap,
                          Optional<RowTables> rows) {
        DitLayout layout = sequence.layout();
        try (Workspace.Frame _ = run.scratch().frame()) {
            run.work().validRows(layout.claimedRows());
            run.work().enter(WorkPart.INPUT);
            Tensor x = pack(sequence, placed(video), placed(audio), tap);
            run.work().enter(WorkPart.BLOCKS);
            for (int i = 0; i < blocks.count(); i++) {
                try (BlockStore.Lease<PreNormBlock.Weights> lease = blocks.acquire(i)) {
                    ModulatedBlock.forward(run, config, geometry, i, BlockWeights.adapted(lease.weights(), name(i), adapters), modulation, index.ada(), sequence.rotary(), x, tap);
                    run.work().block();
                }
            }
            rows.ifPresent(r -> tapOutputNorm(modulation, r, x, tap));
            run.work().enter(WorkPart.HEADS);
            heads(sequence, modulation, index.wanted(), x, out);
        }
    }

    /**
     * Prepares, modulates and evaluates once: what the reference does on every call. For verification; a request that takes
     * several steps shares the first two, with the same bits.
     *
     * @param owner of the result
     */
    public Velocities evaluate(DitInputs in, Workspace owner, StageTap tap) {
        Velocities out = Velocities.allocate(owner, config, in.layout());
        try (DitSequence sequence = prepare(in.layout(), in.text(), tap); Modulation modulation = modulation(in.timesteps(), tap)) {
            forward(sequence, modulation, in.rowTimesteps(), in.video(), in.audio(), out, tap);
            run.backend().finish();
        }
        return out;
    }

    private Tensor placed(Tensor rows) {
        return Execution.placed(run.backend(), run.scratch(), rows);
    }

    /** The packed FP32 sequence; rows that nobody claims are zero. */
    private Tensor pack(DitSequence sequence, Tensor video, Tensor audio, StageTap tap) {
        Backend backend = run.backend();
        Tensor x = run.scratch().f32(sequence.layout().rows(), config.hidden());
        if (sequence.layout().hasUnclaimedRows()) {
            backend.fill(x, 0f);
        }
        place(sequence.text(), sequence.textIndex(), x);
        try (Workspace.Frame _ = run.scratch().frame()) {
            place(embed("proj_in", videoIn, video, tap), sequence.videoIndex(), x);
            place(embed("audio_proj_in", audioIn, audio, tap), sequence.audioIndex(), x);
        }
        return x;
    }

    private Tensor embed(String name, Projection projection, Tensor rows, StageTap tap) {
        Tensor embedded = run.scratch().f32(rows.size(0), config.hidden());
        if (rows.size(0) > 0) {
            projection.forward(run, adapters, rows, embedded);
        }
        tap.stage(name, embedded);
        return embedded;
    }

    private void place(Tensor rows, Tensor index, Tensor x) {
        if (rows.size(0) > 0) {
            run.backend().scatterRows(rows, index, x);
        }
    }

    /** Output norm and heads on the wanted rows only: both work row by row, the rest would be thrown away. */
    private void heads(DitSequence sequence, Modulation modulation, Tensor wantedRows, Tensor x, Velocities out) {
        int videoRows = sequence.layout().wantedVideoRows();
        int wanted = videoRows + sequence.layout().wantedAudioRows();
        if (wanted == 0) {
            return;
        }
        Tensor picked = run.scratch().f32(wanted, config.hidden());
        run.backend().gatherRows(x, sequence.wantedIndex(), picked);
        Tensor normed = outputNorm(modulation, wantedRows, picked);
        if (videoRows > 0) {
            videoOut.forward(run, adapters, normed.rows(0, videoRows), out.video());
        }
        if (videoRows < wanted) {
            audioOut.forward(run, adapters, normed.rows(videoRows, wanted), out.audio());
        }
    }

    private Tensor outputNorm(Modulation modulation, Tensor rows, Tensor x) {
        Tensor normed = run.scratch().f32(x.shape().toArray());
        run.backend().rmsNormModulate(x, outputNorm, config.finalNormEps(),
                new RowModulation(modulation.outputShift(), modulation.outputScale(), rows), normed);
        return normed;
    }

    /** The reference normalises every row; a step here does so only for a tap. */
    private void tapOutputNorm(Modulation modulation, RowTables rows, Tensor x, StageTap tap) {
        if (tap.wants("norm_out")) {
            try (Workspace.Frame _ = run.scratch().frame()) {
                tap.stage("norm_out", outputNorm(modulation, Execution.upload(run.backend(), run.scratch(), rows.output()), x));
            }
        }
    }

    /** Frequencies of the three axes side by side; a row's angles are its FP32 coordinates times them. */
    private Rotary rotary(DitLayout layout, Workspace owner) {
        int perAxis = config.ropeFrequencies();
        float[] one = RotaryTable.inverseFrequencies(config.ropeTheta(), 2 * perAxis);
        float[] all = new float[DitConfig.AXES * perAxis];
        for (int axis = 0; axis < DitConfig.AXES; axis++) {
            System.arraycopy(one, 0, all, axis * perAxis, perAxis);
        }
        return RotaryTable.build(run.backend(), owner, layout.rows(), all, (row, pair) -> (float) layout.position(row, pair / perAxis));
    }

    private static void requireRows(String what, Tensor got, int rows, int channels) {
        if (got.rank() != 2 || got.size(0) != rows || got.size(1) != channels) {
            throw new IllegalArgumentException("dit " + what + ": got " + got + ", expected [" + rows + ", " + channels + "] from layout and config");
        }
    }

    private static String name(int block) {
        return "transformer_blocks." + block + ".";
    }

    /** Distinct by bits, in order of first appearance. */
    private static float[] distinct(float[] timesteps) {
        int[] bits = IntStream.range(0, timesteps.length).map(i -> Float.floatToRawIntBits(timesteps[i])).distinct().toArray();
        if (bits.length == 0) {
            throw new IllegalArgumentException("dit timesteps: got none, expected at least one");
        }
        float[] values = new float[bits.length];
        for (int i = 0; i < bits.length; i++) {
            values[i] = Float.intBitsToFloat(bits[i]);
            if (!Float.isFinite(values[i])) {
                throw new IllegalArgumentException("dit timestep: got " + values[i] + ", expected 0 (noise) to 1 (clean)");
            }
        }
        return values;
    }

    /** Frees weights' copies and scratch memory. */
    @Override
    public void close() {
        blocks.close();
        refiner.close();
        adaLayerNorm.close();
        run.scratch().close();
        weights.close();
    }
}
