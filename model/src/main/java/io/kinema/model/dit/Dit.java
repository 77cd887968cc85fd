package io.kinema.model.dit;

import io.kinema.compute.Backend;
import io.kinema.compute.MatrixLayout;
import io.kinema.compute.NormOps.Rotary;
import io.kinema.compute.Precision;
import io.kinema.compute.Tensor;
import io.kinema.compute.Workspace;
import io.kinema.compute.collective.Communicator;
import io.kinema.compute.collective.RowReduction;
import io.kinema.compute.collective.Traffic;
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
import io.kinema.model.work.Work;
import io.kinema.model.work.WorkCounter;
import io.kinema.model.work.WorkPart;
import io.kinema.weights.DType;
import io.kinema.weights.TensorSource;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * Owns the H3 diffusion transformer's memory on one device until it is closed: one packed sequence of text, video and audio rows
 * goes through blocks of joint self-attention, and two heads read velocities from it. The residual stream is FP32 in every precision plan; the two input
 * projections, the timestep MLP, the AdaLN projections, the text projection and the two heads are FP32 throughout. Closing twice is harmless; the source
 * must outlive it. Used by one thread.
 */
public final class Dit implements Transformer {
    private final Execution run;
    private final DitConfig config;
    private final Rounding rounding;
    private final Attention.Geometry geometry;
    private final Workspace weights;
    private final PackedInput input;
    private final TokenRefiner refiner;
    private final ModulationInput modulationInput;
    private final AdaLayerNorm adaLayerNorm;
    private final BlockStore<PreNormBlock.Weights> blocks;
    private final VelocityHeads heads;
    private final Tensor firstNorm;
    private final Optional<ResidualSharding> sharding;
    /** Present when each residual row lives on one rank. */
    private final Optional<RowReduction> reduction;
    private AdaptersInForce adapters = AdaptersInForce.NONE;

    private Dit(Backend backend, DitConfig config, Precision precision, Parameters p, WeightPlacement placement, Communicator ranks,
                Optional<ResidualSharding> sharding) {
        this.run = new Execution(backend, precision, backend.workspace("dit scratch"), new WorkCounter(), ranks);
        this.config = config;
        this.rounding = p.rounding();
        this.geometry = new Attention.Geometry(config.heads(), config.heads(), config.headDim(), config.qkNormEps(), false).share(ranks);
        this.weights = p.owner();
        this.input = new PackedInput(p, config);
        this.refiner = new TokenRefiner(backend, p, config, placement, ranks);
        this.modulationInput = config.curve().<ModulationInput>map(curve -> new TimeCurve(p, curve)).orElseGet(() -> new TimeEmbedding(p, config));
        this.adaLayerNorm = new AdaLayerNorm(backend, p, config, modulationInput.width());
        // It stays whatever becomes of the blocks: the first one's input is what a cache looks at to tell whether the others need to run.
        this.firstNorm = BlockWeights.norm1(p.under(name(0)), config);
        this.blocks = BlockStore.of(placement, backend, config.layers(), p, (reader, i) -> i == 0 ? BlockWeights.read(reader.under(name(i)), config, ranks, firstNorm)
                : BlockWeights.read(reader.under(name(i)), config, ranks));
        this.heads = new VelocityHeads(p, config);
        this.sharding = sharding;
        this.reduction = sharding.filter(_ -> ranks.size() > 1).map(s -> new RowReduction(s.reduction(), s.budgetBytes()));
    }

    /** {@link #open(Backend, TensorSource, DitConfig, Precision, Rounding, MatrixLayout, WeightPlacement, Communicator)} alone, with row-major matrices, all resident. */
    public static Dit open(Backend backend, TensorSource source, DitConfig config, Precision precision, Rounding rounding) {
        return open(backend, source, config, precision, rounding, MatrixLayout.ROW, WeightPlacement.RESIDENT, Communicator.ALONE);
    }

    /**
     * One rank's transformer among several: it runs its share of the heads and of the feed-forward's channels and adds its results to the others', so
     * all ranks call the same methods with the same values and end with the same bits. Input projections, modulation and heads are run by every rank whole.
     *
     * @param source   tensors with the diffusers layout's names
     * @param rounding how the blocks' matrices are stored for products; the FP32 islands stay as in the file
     * @param layout    of the matrices that are rounded to FP16
     * @param placement of the blocks
     * @param ranks this rank's end of its group, on the thread that opens and uses this
     * @throws io.kinema.weights.BadWeightsException when a tensor is missing or does not fit the config
     * @throws IllegalArgumentException when heads or channels cannot be shared out evenly
     */
    public static Dit open(Backend backend, TensorSource source, DitConfig config, Precision precision, Rounding rounding, MatrixLayout layout,
                           WeightPlacement placement, Communicator ranks) {
        return open(backend, source, config, precision, rounding, layout, placement, ranks, Optional.empty());
    }

    /**
     * The same where each residual row may live on one rank only: the same bits, less memory and less repeated work on each.
     *
     * @param sharding of the residual rows; empty keeps all of them on every rank, and so does a single rank
     */
    public static Dit open(Backend backend, TensorSource source, DitConfig config, Precision precision, Rounding rounding, MatrixLayout layout,
                           WeightPlacement placement, Communicator ranks, Optional<ResidualSharding> sharding) {
        Workspace owner = backend.workspace("dit weights");
        try {
            return new Dit(backend, config, precision, new Parameters(backend, source, owner, "", rounding, layout), placement, ranks, sharding);
        } catch (RuntimeException e) {
            owner.close();
            throw e;
        }
    }

    @Override
    public DitConfig config() {
        return config;
    }

    /** The work executed since it was opened. A request's share is the difference of two counts. */
    public Work work() {
        return run.work().total();
    }

    /** This rank alone; its evaluations are timed by the caller. */
    @Override
    public List<RankMeter> meters() {
        return List.of(new RankMeter(work(), 0, 0, Traffic.NONE, rowReductions(), staging()));
    }

    /** How residual rows were added up so far; empty unless they were to be shared out. */
    public Optional<RowReduction.Report> rowReductions() {
        return sharding.map(_ -> reduction.map(RowReduction::report).orElseGet(ResidualSharding::alone));
    }

    /** FP32 [hidden]: the norm before the first block's attention, on the device as long as this is open, whatever becomes of the blocks. */
    Tensor firstNorm() {
        return firstNorm;
    }

    /** What bringing blocks, refiner and AdaLN projections to where they are used has taken. Waits for the device. */
    public StagingReport staging() {
        run.backend().finish();
        StagingReport inBlocks = blocks.report();
        return inBlocks.plus(refiner.staging()).plus(adaLayerNorm.staging()).resident(inBlocks.residentBlocks());
    }

    @Override
    public Precision precision() {
        return run.precision();
    }

    @Override
    public long peakScratchBytes() {
        return run.scratch().peakBytes();
    }

    @Override
    public LoadedAdapter load(Adapter adapter) {
        return LoadedAdapter.load(run.backend(), adapter, rounding, run.ranks());
    }

    @Override
    public void use(List<ScaledAdapter> chosen) {
        adapters = AdaptersInForce.of(chosen);
    }

    @Override
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

    @Override
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

    @Override
    public void forward(DitSequence sequence, Modulation modulation, float[] rowTimesteps, Tensor video, Tensor audio,
                        Velocities out, StageTap tap) {
        DitLayout layout = sequence.layout();
        requireRows("video rows", video, layout.videoRows(), config.videoPatchDim());
        requireRows("audio rows", audio, layout.audioRows(), config.audioChannels());
        requireInForce(sequence, modulation);
        RowTables rows = RowTables.of(layout, modulation, rowTimesteps);
        try (Workspace.Frame _ = run.scratch().frame()) {
            RowIndex index = new RowIndex(Execution.upload(run.backend(), run.scratch(), rows.ada()),
                    Execution.upload(run.backend(), run.scratch(), rows.wantedOutput()));
            evaluate(sequence, modulation, index, video, audio, out, tap, Optional.of(rows));
        }
    }

    /** @throws IllegalStateException when they were made with other adapters than those in force */
    void requireInForce(DitSequence sequence, Modulation modulation) {
        if (!sequence.adapters().equals(adapters) || !modulation.adapters().equals(adapters)) {
            throw new IllegalStateException("dit forward: got a sequence or modulation made with other adapters than those in force, expected the same; prepare them again");
        }
    }

    /** Counts a replayed evaluation. */
    void replayed(Work evaluation) {
        run.work().repeat(evaluation);
    }

    /** Table rows on the device: of every packed row in the blocks' tables, of every wanted row in the output norm's. */
    private record RowIndex(Tensor ada, Tensor wanted) {
    }

    /** {@inheritDoc} Not where each residual row lives on one rank. */
    @Override
    public Optional<RecordedStep> record(DitSequence sequence, Modulation modulation, Tensor video, Tensor audio, Velocities out) {
        if (!blocks.staysPut() || reduction.isPresent()) {
            return Optional.empty();
        }
        requireInForce(sequence, modulation);
        DitLayout layout = sequence.layout();
        Workspace memory = run.backend().workspace("dit recorded step");
        RowIndex index = new RowIndex(memory.allocate(DType.I32, layout.rows()), memory.allocate(DType.I32, layout.wanted().length));
        Work before = work();
        try {
            Optional<Backend.Recording> recording = run.backend().record(() -> evaluateLikeForward(sequence, modulation, index, video, audio, out));
            Work evaluation = work().minus(before);
            if (recording.isEmpty()) {
                memory.close();
            }
            return recording.map(r -> new RecordedStep(this, run.backend(), memory, r, index.ada(), index.wanted(), sequence, modulation, evaluation));
        } catch (RuntimeException e) {
            memory.close();
            throw e;
        } finally {
            run.work().rewind(before);
        }
    }

    /** Takes scratch memory in the same order and sizes as {@link #forward} did, so that none has to be made now. */
    private void evaluateLikeForward(DitSequence sequence, Modulation modulation, RowIndex index, Tensor video, Tensor audio, Velocities out) {
        try (Workspace.Frame _ = run.scratch().frame()) {
            run.scratch().allocate(DType.I32, index.ada().elements());
            run.scratch().allocate(DType.I32, index.wanted().elements());
            evaluate(sequence, modulation, index, video, audio, out, StageTap.NONE, Optional.empty());
        }
    }

    /** The evaluation itself: enqueues only. @param rows what only a tap looks at */
    private void evaluate(DitSequence sequence, Modulation modulation, RowIndex index, Tensor video, Tensor audio, Velocities out, StageTap tap,
                          Optional<RowTables> rows) {
        DitLayout layout = sequence.layout();
        try (Workspace.Frame _ = run.scratch().frame()) {
            run.work().validRows(layout.claimedRows());
            run.work().enter(WorkPart.INPUT);
            ResidualRows residual = residualRows(layout.rows());
            Tensor x = residual.start(run, () -> input.forward(run, adapters, sequence, placed(video), placed(audio), tap));
            Tensor table = residual.own(index.ada());
            run.work().enter(WorkPart.BLOCKS);
            for (int i = 0; i < blocks.count(); i++) {
                try (BlockStore.Lease<PreNormBlock.Weights> lease = blocks.acquire(i)) {
                    ModulatedBlock.forward(run, config, geometry, i, BlockWeights.adapted(lease.weights(), name(i), adapters), modulation, table,
                            sequence.rotary(), residual, x, tap);
                    run.work().block();
                }
            }
            Tensor last = residual.whole(run, x);
            rows.ifPresent(r -> heads.tapNorm(run, modulation, r, last, tap));
            run.work().enter(WorkPart.HEADS);
            heads.forward(run, adapters, sequence, modulation, index.wanted(), last, out);
        }
    }

    private ResidualRows residualRows(int rows) {
        Communicator ranks = run.ranks();
        return reduction.<ResidualRows>map(r -> new OwnRows(ResidualSharding.shares(rows, ranks.size()), ranks.rank(), config.hidden(), r))
                .orElseGet(() -> new AllRows(rows, config.hidden()));
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

    static String name(int block) {
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

    @Override
    public void close() {
        reduction.ifPresent(RowReduction::close);
        blocks.close();
        refiner.close();
        adaLayerNorm.close();
        run.scratch().close();
        weights.close();
    }
}
