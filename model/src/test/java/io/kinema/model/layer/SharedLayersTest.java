package io.kinema.model.layer;

import static org.assertj.core.api.Assertions.assertThat;

import io.kinema.compute.Backend;
import io.kinema.compute.MatrixLayout;
import io.kinema.compute.Operand;
import io.kinema.compute.Precision;
import io.kinema.compute.Rotation;
import io.kinema.compute.Tensor;
import io.kinema.compute.Weight;
import io.kinema.compute.Workspace;
import io.kinema.compute.collective.Communicator;
import io.kinema.compute.collective.RankGroup;
import io.kinema.compute.cpu.CpuBackend;
import io.kinema.model.GoldenCase;
import io.kinema.model.QuantizedTensors;
import io.kinema.model.TinyWeights;
import io.kinema.model.load.Parameters;
import io.kinema.model.load.Parameters.Rounding;
import io.kinema.model.load.Share;
import io.kinema.model.work.WorkCounter;
import io.kinema.weights.DType;
import io.kinema.weights.FloatConversion;
import io.kinema.weights.MemoryTensors;
import io.kinema.weights.StoredTensor;
import io.kinema.weights.TensorSource;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

/** Layers whose heads, channels and inputs are spread over two and four ranks make what one rank does, for sizes that are nobody's model. */
class SharedLayersTest {
    private static final Rotation ROTATION = new Rotation(16);
    private static final Duration TIMEOUT = Duration.ofMinutes(10);

    /** How matrices lie in the file. */
    enum Kind {
        F32, BF16, F16, FP8, INT8, ROTATED_INT8;

        MemoryTensors of(TensorSource original) {
            return switch (this) {
                case F32, BF16, F16, FP8 -> floats(original);
                case INT8 -> QuantizedTensors.of(original, Kind::matrix, Optional.empty());
                case ROTATED_INT8 -> QuantizedTensors.of(original, Kind::matrix, Optional.of(ROTATION));
            };
        }

        private MemoryTensors floats(TensorSource original) {
            MemoryTensors.Builder all = MemoryTensors.builder("layers in " + this);
            for (String name : original.names()) {
                StoredTensor stored = original.get(name);
                if (this == FP8 && matrix(name)) {
                    coded(all, stored);
                } else {
                    DType dtype = !matrix(name) || this == F32 || this == FP8 ? DType.F32 : this == BF16 ? DType.BF16 : DType.F16;
                    all.rounded(name, dtype, FloatConversion.toFloats(stored), stored.shape().toArray());
                }
            }
            return all.build();
        }

        /** Random codes up to 1.875 in magnitude, with a scale for each row. */
        private static void coded(MemoryTensors.Builder all, StoredTensor stored) {
            int n = stored.shape().size(0);
            int k = stored.shape().size(1);
            Random random = new Random((long) n * k);
            byte[] codes = new byte[n * k];
            float[] scales = new float[n];
            for (int i = 0; i < codes.length; i++) {
                codes[i] = (byte) (random.nextInt(0x40) | (random.nextBoolean() ? 0x80 : 0));
            }
            for (int i = 0; i < n; i++) {
                scales[i] = (float) ((0.5 + random.nextDouble()) / Math.sqrt(k));
            }
            all.put(stored.name(), DType.F8_E4M3, MemorySegment.ofArray(codes), n, k);
            all.floats(stored.name() + "_scale", scales, n, 1);
        }

        private static boolean matrix(String name) {
            return name.endsWith(".weight");
        }
    }

    enum Ranks {
        TWO(2), FOUR(4);

        private final int count;

        Ranks(int count) {
            this.count = count;
        }
    }

    /** Sizes of both layers, and how many adapters are on each of their matrices. */
    private record Sizes(int rows, int hidden, int heads, int kvHeads, int headDim, int ffn, int adapters) {
        int inner() {
            return heads * headDim;
        }
    }

    private record Case(TensorSource source, Sizes sizes, Precision precision, MatrixLayout layout) {
    }

    /** What both layers made, one below the other, and the bytes that their matrices' copies took. */
    private record Made(Tensor attention, Tensor feedForward, long bytes) {
    }

    @Property(tries = 60)
    void layersMakeWhatOneRankDoes(@ForAll Ranks ranks, @ForAll Kind kind, @ForAll Precision precision, @ForAll MatrixLayout layout,
                                   @ForAll @IntRange(min = 1, max = 40) int rows, @ForAll @IntRange(min = 1, max = 3) int wide,
                                   @ForAll @IntRange(min = 1, max = 3) int each, @ForAll @IntRange(min = 0, max = 2) int fewerKeys,
                                   @ForAll @IntRange(min = 0, max = 2) int adapters) {
        int heads = ranks.count * each;
        // Key heads: as many as heads, one for each rank, or one for all of them.
        int kvHeads = fewerKeys == 0 ? heads : fewerKeys == 1 ? ranks.count : 1;
        Sizes sizes = new Sizes(rows, 16 * wide, heads, kvHeads, 16, ranks.count * 16 * wide, adapters);
        try (MemoryTensors original = weights(sizes); MemoryTensors stored = kind.of(original)) {
            Case c = new Case(stored, sizes, precision, layout);
            Made one = run(c, Communicator.ALONE);
            List<Made> all;
            try (RankGroup group = RankGroup.open(ranks.count, TIMEOUT)) {
                all = group.each(rank -> run(c, rank));
            }
            double limit = switch (precision) {
                case FP32 -> 1e-5;
                case FP16_FP32RES -> 2e-3;
                case BF16_FP32RES -> 1.5e-2;
            };
            for (Made made : all) {
                assertThat(GoldenCase.relativeL2(made.attention(), one.attention())).as("attention").isLessThanOrEqualTo(limit);
                assertThat(GoldenCase.relativeL2(made.feedForward(), one.feedForward())).as("feed-forward").isLessThanOrEqualTo(limit);
                assertThat(made.attention().toFloats()).as("all ranks have one sum").isEqualTo(all.getFirst().attention().toFloats());
                assertThat(made.feedForward().toFloats()).isEqualTo(all.getFirst().feedForward().toFloats());
            }
            if (kvHeads == heads && adapters == 0) {
                assertThat(all.stream().mapToLong(Made::bytes).sum()).as("no copy is on two ranks").isEqualTo(one.bytes());
            }
        }
    }

    private static MemoryTensors weights(Sizes s) {
        TinyWeights w = new TinyWeights("layers", s.rows(), DType.F32);
        matrix(w, s, "q", s.inner(), s.hidden());
        matrix(w, s, "k", (long) s.kvHeads() * s.headDim(), s.hidden());
        matrix(w, s, "v", (long) s.kvHeads() * s.headDim(), s.hidden());
        matrix(w, s, "out", s.hidden(), s.inner());
        matrix(w, s, "gate", s.ffn(), s.hidden());
        matrix(w, s, "up", s.ffn(), s.hidden());
        matrix(w, s, "down", s.hidden(), s.ffn());
        return w.normal("norm", 1, 0.1, s.headDim()).build();
    }

    private static void matrix(TinyWeights w, Sizes s, String name, long n, long k) {
        w.matrix(name + ".weight", n, k);
        for (int i = 0; i < s.adapters(); i++) {
            w.matrix(name + ".down" + i, 3 + i, k).matrix(name + ".up" + i, n, 3 + i);
        }
    }

    private static Made run(Case c, Communicator ranks) {
        Sizes s = c.sizes();
        try (Backend backend = CpuBackend.open(1); Workspace owner = backend.workspace("weights"); Workspace scratch = backend.workspace("scratch")) {
            Parameters p = new Parameters(backend, c.source(), owner, "", Rounding.of(c.precision()), c.layout());
            Execution run = new Execution(backend, c.precision(), scratch, new WorkCounter(), ranks);
            Share heads = Share.outputs(ranks);
            Share keys = Share.heads(ranks, s.kvHeads());
            Share inputs = Share.inputs(ranks);
            int kv = s.kvHeads() * s.headDim();
            Attention.Weights attention = new Attention.Weights(linear(p, s, "q", s.inner(), s.hidden(), heads), linear(p, s, "k", kv, s.hidden(), keys),
                    linear(p, s, "v", kv, s.hidden(), keys), linear(p, s, "out", s.hidden(), s.inner(), inputs), p.f32("norm", s.headDim()),
                    p.f32("norm", s.headDim()));
            FeedForward.Weights feedForward = new FeedForward.Weights(linear(p, s, "gate", s.ffn(), s.hidden(), heads),
                    linear(p, s, "up", s.ffn(), s.hidden(), heads), linear(p, s, "down", s.hidden(), s.ffn(), inputs));
            Tensor x = run.operands(s.rows(), s.hidden());
            backend.copy(rows(s), x);
            Tensor out = scratch.f32(s.rows(), s.hidden());
            Attention.Geometry geometry = new Attention.Geometry(s.heads(), s.kvHeads(), s.headDim(), 1e-6f, s.rows() % 2 == 0).share(ranks);
            Attention.forward(run, geometry, attention, x, Optional.empty(), out);
            Tensor attended = copy(out);
            FeedForward.forward(run, feedForward, x, out);
            return new Made(attended, copy(out), owner.bytes());
        }
    }

    /** As adapters are loaded: A's inputs or B's outputs are shared out with the base's. */
    private static Linear linear(Parameters p, Sizes s, String name, long n, long k, Share share) {
        Parameters factors = Parameters.atHand(p.backend(), p.owner(), p.rounding());
        boolean outputs = share.axis() == Share.Axis.OUTPUTS;
        List<LowRankDelta> deltas = new ArrayList<>();
        for (int i = 0; i < s.adapters(); i++) {
            Weight down = factors.matrix(p.source().get(name + ".down" + i), outputs ? Share.WHOLE : share);
            Weight up = factors.matrix(p.source().get(name + ".up" + i), outputs ? share : Share.WHOLE);
            deltas.add(new LowRankDelta(down, up, 0.5f));
        }
        return new Linear(p.matrix(name + ".weight", n, k, share), Optional.empty(), deltas);
    }

    private static Tensor rows(Sizes s) {
        Random random = new Random(s.hidden());
        float[] values = new float[s.rows() * s.hidden()];
        for (int i = 0; i < values.length; i++) {
            values[i] = (float) random.nextGaussian();
        }
        return Tensor.ofFloats(values, s.rows(), s.hidden());
    }

    private static Tensor copy(Tensor t) {
        return Tensor.ofFloats(t.toFloats(), t.shape().toArray());
    }

    /** A layer whose outputs are shared out makes its part of them; products of other sizes may add in another order. */
    @Property(tries = 30)
    void aRanksOutputsAreThoseOfTheWhole(@ForAll Ranks ranks, @ForAll Kind kind, @ForAll @IntRange(min = 1, max = 3) int wide) {
        int n = 16 * ranks.count;
        int k = 16 * wide;
        try (MemoryTensors original = new TinyWeights("layer", wide, DType.F32).matrix("layer.weight", n, k).build(); MemoryTensors stored = kind.of(original);
             Backend backend = CpuBackend.open(1); Workspace owner = backend.workspace("test")) {
            Parameters p = new Parameters(backend, stored, owner, "", Rounding.AS_STORED);
            Execution run = new Execution(backend, Precision.FP32, owner);
            Tensor x = rows(new Sizes(5, k, 1, 1, 1, 1, 0));
            float[] whole = product(run, p.matrix("layer.weight", n, k), x).toFloats();
            Tensor joined = owner.f32(5, n);
            for (int rank = 0; rank < ranks.count; rank++) {
                Share share = new Share(Share.Axis.OUTPUTS, rank, ranks.count);
                backend.copy(product(run, p.matrix("layer.weight", n, k, share), x), joined.slice(1, share.from(n), share.to(n)));
            }
            assertThat(GoldenCase.relativeL2(joined, Tensor.ofFloats(whole, 5, n))).isLessThan(1e-6);
        }
    }

    private static Tensor product(Execution run, Weight weight, Tensor x) {
        Tensor out = run.scratch().f32(x.size(0), weight.outFeatures());
        Linear.of(weight).forward(run, Operand.of(x), out);
        return out;
    }
}
