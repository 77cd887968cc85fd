package io.kinema.measure.step;

import io.kinema.compute.Backend;
import io.kinema.compute.MatrixLayout;
import io.kinema.compute.Precision;
import io.kinema.compute.Tensor;
import io.kinema.compute.TimeMark;
import io.kinema.compute.Workspace;
import io.kinema.compute.collective.BackendGroup;
import io.kinema.engine.record.UsefulWork;
import io.kinema.model.dit.Dit;
import io.kinema.model.dit.DitConfig;
import io.kinema.model.dit.DitLayout;
import io.kinema.model.dit.DitSequence;
import io.kinema.model.dit.DitTensors;
import io.kinema.model.dit.Modulation;
import io.kinema.model.dit.RankMeter;
import io.kinema.model.dit.RankedDit;
import io.kinema.model.dit.RecordedStep;
import io.kinema.model.dit.Transformer;
import io.kinema.model.dit.Velocities;
import io.kinema.model.load.Inventory;
import io.kinema.model.load.Parameters.Rounding;
import io.kinema.model.load.WeightPlacement;
import io.kinema.model.load.WeightResidency;
import io.kinema.weights.DType;
import io.kinema.weights.RandomTensors;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.stream.IntStream;

/**
 * Measures evaluations of a transformer of some configuration with random weights on random rows.
 *
 * @param config    the transformer
 * @param precision plan of its products
 * @param rows      of the packed sequence
 * @param runs      timed evaluations after the first, which makes plans; at least 1
 * @param residency of the blocks
 */
public record TransformerStep(DitConfig config, Precision precision, Rows rows, int runs, WeightResidency residency) {
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
     * @param reductions   what several ranks spend on each other
     */
    public record Result(double loadSeconds, double firstSeconds, List<Double> seconds, double flops, List<OperationTimes.Line> table, double checksum,
                         boolean repeatsBitwise, Optional<Replay> replay, Optional<Reductions> reductions) {
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
        try (RandomTensors weights = weights(); Transformer dit = open(group, weights)) {
            group.each(member -> {
                member.backend().finish();
                return member;
            });
            double load = (System.nanoTime() - start) / 1e9;
            try (Workspace memory = backend.workspace("step rows")) {
                return evaluations(group, dit, memory, load, weights);
            }
        }
    }

    private Transformer open(BackendGroup group, RandomTensors weights) {
        return group.size() == 1 ? open(group.backends().getFirst(), weights, config)
                : RankedDit.open(group, weights, config, precision, Rounding.of(precision), MatrixLayout.ROW, WeightPlacement.of(residency), Optional.empty());
    }

    private Dit open(Backend backend, RandomTensors weights, DitConfig sizes) {
        return Dit.open(backend, weights, sizes, precision, Rounding.of(precision), MatrixLayout.ROW, residency);
    }

    private RandomTensors weights() {
        List<RandomTensors.Entry> entries = new ArrayList<>();
        for (Inventory.Entry e : DitTensors.of(config).entries()) {
            DType dtype = e.rule() == Inventory.Rule.FP32 ? DType.F32 : precision == Precision.FP32 ? DType.BF16 : precision.operand();
            entries.add(new RandomTensors.Entry(e.name(), dtype, e.shape()));
        }
        return RandomTensors.of("random weights", entries, SEED);
    }

    private Result evaluations(BackendGroup group, Transformer dit, Workspace memory, double load, RandomTensors weights) {
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
            long reductions = dit.meters().getFirst().minus(before.getFirst()).traffic().calls() / runs;
            Optional<Replay> replay = replay(backend, dit, sequence, modulation, rowTimesteps, video, audio, out, velocities);
            double sum = 0;
            for (float v : again) {
                sum += v;
            }
            UsefulWork.Rows counted = new UsefulWork.Rows(rows.text(), rows.video(), rows.video(), rows.audio(), rows.audio());
            boolean alone = group.size() == 1;
            return new Result(load, first, seconds, UsefulWork.of(config).step(counted),
                    alone ? table(backend, weights, layout, text, rowTimesteps, video, audio, out) : List.of(), sum, Arrays.equals(velocities, again), replay,
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
    private List<OperationTimes.Line> table(Backend backend, RandomTensors weights, DitLayout layout, Tensor text, float[] rowTimesteps, Tensor video,
                                            Tensor audio, Velocities out) {
        try (OperationTimes times = new OperationTimes()) {
            Backend watched = times.watch(backend);
            DitConfig shallow = config.withLayers(Math.min(config.layers(), 2));
            try (Dit dit = open(watched, weights, shallow);
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
