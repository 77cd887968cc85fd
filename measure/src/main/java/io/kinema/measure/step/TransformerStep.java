package io.kinema.measure.step;

import io.kinema.compute.Backend;
import io.kinema.compute.MatrixLayout;
import io.kinema.compute.Precision;
import io.kinema.compute.Tensor;
import io.kinema.compute.TimeMark;
import io.kinema.compute.Workspace;
import io.kinema.compute.collective.BackendGroup;
import io.kinema.compute.collective.Communicator;
import io.kinema.engine.record.ProcessMemory;
import io.kinema.engine.record.UsefulWork;
import io.kinema.model.dit.Dit;
import io.kinema.model.dit.DitConfig;
import io.kinema.model.dit.DitLayout;
import io.kinema.model.dit.DitSequence;
import io.kinema.model.dit.DitTensors;
import io.kinema.model.dit.Modulation;
import io.kinema.model.dit.RankMeter;
import io.kinema.model.dit.RankedDit;
import io.kinema.model.dit.ResidualSharding;
import io.kinema.model.dit.RecordedStep;
import io.kinema.model.dit.Transformer;
import io.kinema.model.dit.Velocities;
import io.kinema.model.load.HostMemory;
import io.kinema.model.load.HostWeights;
import io.kinema.model.load.Inventory;
import io.kinema.model.load.Parameters.Rounding;
import io.kinema.model.load.StagingReport;
import io.kinema.model.load.WeightPlacement;
import io.kinema.weights.DType;
import io.kinema.weights.HeldTensors;
import io.kinema.weights.RandomTensors;
import io.kinema.weights.TensorSource;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.function.Supplier;
import java.util.stream.IntStream;

/**
 * Measures evaluations of a transformer of some configuration on random rows.
 *
 * @param config      the transformer
 * @param precision   plan of its products
 * @param rows        of the packed sequence
 * @param runs        timed evaluations after the first, which makes plans; at least 1
 * @param placement   of the blocks
 * @param hostWeights what they are read from; {@link HostWeights#MMAP} leaves them where the source has them
 * @param weights     opened once and closed; empty for random values
 * @param sharding    of the residual rows among several ranks; empty keeps all of them on every rank
 * @param operations  also time one more evaluation operation by operation, on one rank
 */
public record TransformerStep(DitConfig config, Precision precision, Rows rows, int runs, WeightPlacement placement, HostWeights hostWeights,
                              Optional<Supplier<TensorSource>> weights, Optional<ResidualSharding> sharding, boolean operations) {
    private static final long SEED = 7;
    private static final float[] TIMESTEPS = {0.3f, 0.6f};
    private static final double LARGEST_POSITION = 60;
    private static final int REDUCTIONS = 9;

    /** Text, audio and video rows. */
    public record Rows(int text, int audio, int video) {
        /** H3's canvas of 1280 x 736 with 124 frames. */
        public static final Rows PRIMARY = new Rows(97, 414, 37 * 23 * 40);

        int all() {
            return text + audio + video;
        }
    }

    /**
     * @param loadSeconds  weights made and brought to the device
     * @param firstSeconds the first evaluation, with everything that is chosen once
     * @param seconds      of each timed evaluation, on the device
     * @param flops        useful operations of one evaluation
     * @param table        of one more evaluation on one rank, operation by operation; empty for several
     * @param checksum     sum of the velocities; equal sums of equal runs
     * @param sha256       of the velocities of video, then audio, FP32 little-endian
     * @param staging      of all timed evaluations, on the first rank
     * @param heldBytes    of copies of the weights in host memory
     * @param process      physical memory after the timed evaluations
     * @param reductions   what several ranks spend on each other
     */
    public record Result(double loadSeconds, double firstSeconds, List<Double> seconds, double flops, List<OperationTimes.Line> table, double checksum,
                         String sha256, boolean repeatsBitwise, StagingReport staging, long heldBytes, ProcessMemory process, Optional<Replay> replay,
                         Optional<Reductions> reductions) {
        /** The middle one of the timed evaluations. */
        public double median() {
            return seconds.stream().sorted().toList().get(seconds.size() / 2);
        }
    }

    /** A recorded evaluation. @param bitwise it gave the bits of the first evaluation */
    public record Replay(double seconds, boolean bitwise) {
    }

    /**
     * Reductions of several ranks.
     *
     * @param calls   of one evaluation
     * @param seconds of one alone, all packed rows, on the first rank's device
     */
    public record Reductions(long calls, double seconds) {
        /** Their part of a step that takes so long. */
        public double share(double stepSeconds) {
            return calls * seconds / stepSeconds;
        }
    }

    private static Optional<Replay> replay(Backend backend, Transformer dit, DitSequence sequence, Modulation modulation, float[] rowTimesteps, Tensor video,
                                           Tensor audio, Velocities out, float[] expected) {
        backend.fill(out.video(), Float.NaN);
        Optional<RecordedStep> recorded = dit.record(sequence, modulation, video, audio, out);
        return recorded.map(step -> {
            try (step; TimeMark from = backend.mark()) {
                step.replay(rowTimesteps);
                try (TimeMark to = backend.mark()) {
                    backend.finish();
                    return new Replay(to.secondsSince(from), Arrays.equals(expected, host(backend, out.video())));
                }
            }
        });
    }

    /** Runs it on the ranks of a group, which stays open. */
    public Result measure(BackendGroup group) {
        long start = System.nanoTime();
        Backend backend = group.backends().getFirst();
        try (TensorSource source = host(backend); Transformer dit = open(group, source)) {
            group.each(member -> {
                member.backend().finish();
                return member;
            });
            double load = (System.nanoTime() - start) / 1e9;
            try (Workspace memory = backend.workspace("step rows")) {
                return evaluations(group, dit, memory, load, source);
            }
        }
    }

    private TensorSource host(Backend backend) {
        TensorSource source = weights.map(Supplier::get).orElseGet(this::random);
        return HostMemory.of(backend, hostWeights).<TensorSource>map(memory -> HeldTensors.of(source, memory, DitTensors::everyStep)).orElse(source);
    }

    private Transformer open(BackendGroup group, TensorSource source) {
        return group.size() == 1 ? open(group.backends().getFirst(), source, config)
                : RankedDit.open(group, source, config, precision, Rounding.of(precision), MatrixLayout.ROW, placement, sharding);
    }

    private Dit open(Backend backend, TensorSource source, DitConfig sizes) {
        return Dit.open(backend, source, sizes, precision, Rounding.of(precision), MatrixLayout.ROW, placement, Communicator.ALONE);
    }

    private TensorSource random() {
        List<RandomTensors.Entry> entries = new ArrayList<>();
        for (Inventory.Entry e : DitTensors.of(config).entries()) {
            DType dtype = e.rule() == Inventory.Rule.FP32 ? DType.F32 : precision == Precision.FP32 ? DType.BF16 : precision.operand();
            entries.add(new RandomTensors.Entry(e.name(), dtype, e.shape()));
        }
        return RandomTensors.of("random weights", entries, SEED);
    }

    private Result evaluations(BackendGroup group, Transformer dit, Workspace memory, double load, TensorSource source) {
        Backend backend = group.backends().getFirst();
        DitLayout layout = layout();
        Random random = new Random(SEED);
        Tensor text = normal(random, rows.text(), config.textDim());
        Tensor video = placed(group, memory, normal(random, rows.video(), config.videoPatchDim()));
        Tensor audio = placed(group, memory, normal(random, rows.audio(), config.audioChannels()));
        Velocities out = Velocities.allocate(memory, config, layout);
        float[] rowTimesteps = new float[rows.all()];
        Arrays.fill(rowTimesteps, TIMESTEPS[0]);
        Arrays.fill(rowTimesteps, rows.text(), rows.text() + rows.audio(), TIMESTEPS[1]);
        try (DitSequence sequence = dit.prepare(layout, text); Modulation modulation = dit.modulation(TIMESTEPS)) {
            long begin = System.nanoTime();
            dit.forward(sequence, modulation, rowTimesteps, video, audio, out);
            backend.finish();
            double first = (System.nanoTime() - begin) / 1e9;
            float[] velocities = host(backend, out.video());
            List<RankMeter> before = dit.meters();
            List<Double> seconds = new ArrayList<>();
            for (int i = 0; i < runs; i++) {
                try (TimeMark from = backend.mark()) {
                    dit.forward(sequence, modulation, rowTimesteps, video, audio, out);
                    try (TimeMark to = backend.mark()) {
                        backend.finish();
                        seconds.add(to.secondsSince(from));
                    }
                }
            }
            float[] again = host(backend, out.video());
            RankMeter timed = dit.meters().getFirst().minus(before.getFirst());
            long reductions = timed.rowReductions().map(rows -> rows.peerCalls() + rows.nativeCalls()).orElse(timed.traffic().calls()) / runs;
            ProcessMemory process = ProcessMemory.now();
            String sha256 = sha256(again, host(backend, out.audio()));
            Optional<Replay> replay = replay(backend, dit, sequence, modulation, rowTimesteps, video, audio, out, velocities);
            double sum = 0;
            for (float v : again) {
                sum += v;
            }
            UsefulWork.Rows counted = new UsefulWork.Rows(rows.text(), rows.video(), rows.video(), rows.audio(), rows.audio());
            boolean alone = group.size() == 1;
            return new Result(load, first, seconds, UsefulWork.of(config).step(counted),
                    alone && operations ? table(backend, source, layout, text, rowTimesteps, video, audio, out) : List.of(), sum, sha256,
                    Arrays.equals(velocities, again), timed.staging(), source instanceof HeldTensors held ? held.heldBytes() : 0, process, replay,
                    alone ? Optional.empty() : Optional.of(new Reductions(reductions, allReduceSeconds(group))));
        }
    }

    /** Of a tensor of all packed rows, the middle one of several. */
    private double allReduceSeconds(BackendGroup group) {
        return group.each(member -> {
            try (Workspace memory = member.backend().workspace("reduction")) {
                Tensor values = memory.f32(rows.all(), config.hidden());
                member.backend().fill(values, 0f);
                List<Double> seconds = new ArrayList<>();
                for (int i = 0; i < REDUCTIONS; i++) {
                    try (TimeMark from = member.backend().mark()) {
                        member.ranks().allReduce(values);
                        try (TimeMark to = member.backend().mark()) {
                            member.backend().finish();
                            seconds.add(to.secondsSince(from));
                        }
                    }
                }
                return seconds.stream().sorted().toList().get(REDUCTIONS / 2);
            }
        }).getFirst();
    }

    /** A transformer of few layers on a watched backend: all layers are alike, and its weights need no second home. */
    private List<OperationTimes.Line> table(Backend backend, TensorSource source, DitLayout layout, Tensor text, float[] rowTimesteps, Tensor video,
                                            Tensor audio, Velocities out) {
        try (OperationTimes times = new OperationTimes()) {
            Backend watched = times.watch(backend);
            DitConfig shallow = config.withLayers(Math.min(config.layers(), 2));
            try (Dit dit = open(watched, source, shallow);
                 DitSequence sequence = dit.prepare(layout, text); Modulation modulation = dit.modulation(TIMESTEPS)) {
                times.close();
                dit.forward(sequence, modulation, rowTimesteps, video, audio, out);
                backend.finish();
                return times.table();
            }
        }
    }

    private DitLayout layout() {
        int all = rows.all();
        Random random = new Random(SEED);
        double[] positions = random.doubles(3L * all, 0, LARGEST_POSITION).toArray();
        int[] tags = new int[all];
        Arrays.fill(tags, 0, rows.text(), 1);
        Arrays.fill(tags, rows.text(), rows.text() + rows.audio(), 2);
        return DitLayout.of(positions, tags, range(0, rows.text()), range(rows.text() + rows.audio(), all), range(rows.text(), rows.text() + rows.audio()));
    }

    private static int[] range(int from, int to) {
        return IntStream.range(from, to).toArray();
    }

    private static Tensor normal(Random random, int rows, int columns) {
        float[] values = new float[rows * columns];
        for (int i = 0; i < values.length; i++) {
            values[i] = (float) random.nextGaussian();
        }
        return Tensor.ofFloats(values, rows, columns);
    }

    private static String sha256(float[] video, float[] audio) {
        ByteBuffer bytes = ByteBuffer.allocate(Float.BYTES * (video.length + audio.length)).order(ByteOrder.LITTLE_ENDIAN);
        bytes.asFloatBuffer().put(video).put(audio);
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes.array()));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }

    /** On the device of one rank; several read them from the host, each for itself. */
    private static Tensor placed(BackendGroup group, Workspace memory, Tensor host) {
        if (group.size() > 1) {
            return host;
        }
        Backend backend = group.backends().getFirst();
        Tensor t = memory.f32(host.shape().toArray());
        backend.copy(host, t);
        return t;
    }

    private static float[] host(Backend backend, Tensor t) {
        Tensor copy = Tensor.ofFloats(new float[Math.toIntExact(t.elements())], t.shape().toArray());
        backend.copy(t, copy);
        backend.finish();
        return copy.toFloats();
    }
}
