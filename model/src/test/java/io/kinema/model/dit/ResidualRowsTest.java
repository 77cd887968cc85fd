package io.kinema.model.dit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kinema.compute.Backend;
import io.kinema.compute.MatrixLayout;
import io.kinema.compute.Operand;
import io.kinema.compute.Precision;
import io.kinema.compute.Tensor;
import io.kinema.compute.Workspace;
import io.kinema.compute.collective.BackendGroup;
import io.kinema.compute.collective.Communicator;
import io.kinema.compute.collective.RankGroup;
import io.kinema.compute.collective.RowReduction.Mode;
import io.kinema.compute.collective.RowReduction.Report;
import io.kinema.compute.cpu.CpuBackend;
import io.kinema.model.FiniteCheck;
import io.kinema.model.NonFiniteException;
import io.kinema.model.PoisonedMemory;
import io.kinema.model.StageTap;
import io.kinema.model.adapter.AdapterFile;
import io.kinema.model.adapter.AdapterFixture;
import io.kinema.model.adapter.AdapterFixture.Entry;
import io.kinema.model.dit.RankedSample.Weights;
import io.kinema.model.load.Parameters.Rounding;
import io.kinema.model.load.WeightPlacement;
import io.kinema.model.work.Work;
import io.kinema.weights.TensorSource;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Residual rows that live on one rank each have the bits of rows that live on all of them: after every half-block, on every rank. */
class ResidualRowsTest {
    private static final Duration TIMEOUT = Duration.ofMinutes(10);
    private static final long PLENTY = 1L << 30;

    @TempDir
    private Path folder;

    /** What is on the transformer beside its weights. */
    private enum Adapters {
        NONE,
        /** On the output projections alone: nobody reads a branch's input as it is. */
        OUTPUTS,
        /** On every layer. */
        ALL,
        TWO
    }

    /** What every rank saw. */
    private record Seen(Map<String, int[]> stages, Work work, Optional<Report> report, long peakScratchBytes) {
    }

    /** One way to run it. */
    private record Run(TensorSource weights, Precision precision, List<AdapterFile> adapters, DitInputs inputs, Optional<ResidualSharding> sharding,
                       UnaryOperator<Backend> dressed) {
        Run(TensorSource weights, Precision precision, List<AdapterFile> adapters, DitInputs inputs) {
            this(weights, precision, adapters, inputs, Optional.empty(), backend -> backend);
        }

        Run sharded(Mode mode, long budget) {
            return new Run(weights, precision, adapters, inputs, Optional.of(new ResidualSharding(mode, budget)), dressed);
        }

        Run on(UnaryOperator<Backend> dress) {
            return new Run(weights, precision, adapters, inputs, sharding, dress);
        }

        List<Seen> ranks(int count) {
            try (RankGroup group = RankGroup.open(count, TIMEOUT)) {
                return group.each(this::rank);
            }
        }

        private Seen rank(Communicator rank) {
            List<LoadedAdapter> loaded = new ArrayList<>();
            Map<String, int[]> stages = new LinkedHashMap<>();
            StageTap tap = (name, value) -> stages.put(name, bits(value));
            try (Backend own = CpuBackend.open(1)) {
                Backend backend = dressed.apply(own);
                try (Dit dit = Dit.open(backend, weights, RankedSample.CONFIG, precision, Rounding.of(precision), MatrixLayout.ROW, WeightPlacement.RESIDENT, rank, sharding);
                     Workspace memory = backend.workspace("test")) {
                    adapters.forEach(file -> loaded.add(dit.load(file.adapter())));
                    dit.use(loaded.stream().map(adapter -> new ScaledAdapter(adapter, 0.75)).toList());
                    Velocities out = dit.evaluate(inputs, memory, tap);
                    stages.put("video", bits(out.video()));
                    stages.put("audio", bits(out.audio()));
                    dit.evaluate(inputs, memory, StageTap.NONE);
                    return new Seen(stages, dit.work(), dit.rowReductions(), dit.peakScratchBytes());
                }
            } finally {
                loaded.forEach(LoadedAdapter::close);
            }
        }
    }

    private static int[] bits(Tensor t) {
        float[] values = t.toFloats();
        return IntStream.range(0, values.length).map(i -> Float.floatToRawIntBits(values[i])).toArray();
    }

    private List<AdapterFile> files(Adapters adapters) {
        return switch (adapters) {
            case NONE -> List.of();
            case OUTPUTS -> List.of(file("outputs", 1, true));
            case ALL -> List.of(file("one", 1, false));
            case TWO -> List.of(file("one", 1, false), file("two", 2, false));
        };
    }

    private AdapterFile file(String name, long seed, boolean outputs) {
        Map<String, Entry> entries = new AdapterFixture(RankedSample.CONFIG, 4, seed, true).diffusers("", ".lora_A.weight", ".lora_B.weight", true);
        if (outputs) {
            entries.keySet().removeIf(key -> !key.contains("attn.to_out.") && !key.contains("ff.net.2."));
        }
        return AdapterFile.open(AdapterFixture.write(folder.resolve(name + ".safetensors"), entries, Map.of()), DitTensors.forAdapters(RankedSample.CONFIG), Optional.empty());
    }

    private static void assertSame(List<Seen> sharded, List<Seen> ordinary) {
        for (int rank = 0; rank < ordinary.size(); rank++) {
            Seen expected = ordinary.get(rank);
            Seen got = sharded.get(rank);
            assertThat(got.stages().keySet()).isEqualTo(expected.stages().keySet());
            for (String stage : expected.stages().keySet()) {
                assertThat(Arrays.equals(got.stages().get(stage), expected.stages().get(stage))).as("rank %d, %s", rank, stage).isTrue();
            }
            assertThat(got.work()).as("work of rank %d", rank).isEqualTo(expected.work());
        }
    }

    /** Of every kind something, in the plan with most rounding points. */
    static Stream<Arguments> cases() {
        return Stream.of(Arguments.of(Weights.ORIGINAL, Adapters.NONE), Arguments.of(Weights.INT8, Adapters.TWO), Arguments.of(Weights.ROTATED_INT8, Adapters.NONE),
                Arguments.of(Weights.ROTATED_INT8, Adapters.OUTPUTS), Arguments.of(Weights.ROTATED_INT8, Adapters.ALL), Arguments.of(Weights.WIDE, Adapters.ALL))
                .map(both -> Arguments.of(both.get()[0], both.get()[1], Precision.FP16_FP32RES));
    }

    static Stream<Arguments> everything() {
        return Stream.of(Precision.values()).flatMap(ResidualRowsTest::all);
    }

    private static Stream<Arguments> all(Precision precision) {
        return Stream.of(Weights.values()).flatMap(weights -> Stream.of(Adapters.values()).map(adapters -> Arguments.of(weights, adapters, precision)));
    }

    @Tag("long")
    @ParameterizedTest
    @MethodSource("everything")
    void withEveryCombination(Weights weights, Adapters adapters, Precision precision) {
        everyRankHasTheBitsOfTheOrdinaryPath(weights, adapters, precision);
    }

    /**
     * On 2 and 4 ranks, with 3 sequences and both reductions, after each half of 3 consecutive blocks. 236 rows are
     * Ref2VA's; of 85 rows the third of four ranks has 21, and the last has none; of 5 rows the first has all, and a product of them as 64 padded rows would
     * have other bits. All memory is NaN until it is written, padding rows for good.
     */
    @ParameterizedTest
    @MethodSource("cases")
    void everyRankHasTheBitsOfTheOrdinaryPath(Weights weights, Adapters adapters, Precision precision) {
        try (var tensors = weights.make()) {
            List<AdapterFile> files = files(adapters);
            for (DitInputs inputs : List.of(RankedSample.ref2va(), RankedSample.plain(31, 37, 17), RankedSample.plain(2, 2, 1))) {
                Run run = new Run(tensors, precision, files, inputs);
                for (int ranks : new int[] {2, 4}) {
                    List<Seen> ordinary = run.ranks(ranks);
                    assertSame(run.sharded(Mode.NATIVE, 0).on(PoisonedMemory::of).ranks(ranks), ordinary);
                    List<Seen> peers = run.sharded(Mode.PEER, PLENTY).on(PoisonedMemory::of).ranks(ranks);
                    assertSame(peers, ordinary);
                    assertThat(peers).allSatisfy(seen -> assertThat(seen.report().orElseThrow().peerCalls()).isEqualTo(ranks == 4 ? 2 * 2 * RankedSample.CONFIG.layers() : 0));
                    if (weights == Weights.WIDE && inputs.layout().rows() == 236) {
                        assertThat(largest(ordinary.getFirst().stages().get("block0"))).isGreaterThan(65504);
                    }
                }
            }
            files.forEach(AdapterFile::close);
        }
    }

    private static float largest(int[] bits) {
        return (float) IntStream.of(bits).mapToDouble(b -> Math.abs(Float.intBitsToFloat(b))).max().orElseThrow();
    }

    @Test
    void oneRankIsTheOrdinaryPath() {
        try (var tensors = Weights.ROTATED_INT8.make()) {
            Run run = new Run(tensors, Precision.FP16_FP32RES, List.of(), RankedSample.plain(31, 37, 17));
            List<Seen> sharded = run.sharded(Mode.PEER, PLENTY).ranks(1);
            assertSame(sharded, run.ranks(1));
            assertThat(sharded.getFirst().report().orElseThrow().fallback().orElseThrow()).startsWith("one rank has all residual rows");
            assertThat(sharded.getFirst().peakScratchBytes()).isEqualTo(run.ranks(1).getFirst().peakScratchBytes());
        }
    }

    /** Two ranks, and a budget that is too small, use the all-reduce and say why; a budget counts what a plan takes while it is made. */
    @Test
    void theReasonForTheAllReduceIsTold() {
        try (var tensors = Weights.ORIGINAL.make()) {
            Run run = new Run(tensors, Precision.FP32, List.of(), RankedSample.plain(31, 37, 17));
            long calls = 2 * 2 * RankedSample.CONFIG.layers();
            assertThat(run.sharded(Mode.PEER, PLENTY).ranks(2)).allSatisfy(seen -> assertThat(seen.report().orElseThrow()).isEqualTo(
                    new Report(0, calls, seen.report().orElseThrow().setupSeconds(), 0, Optional.of("peer execution requires 4 ranks, there are 2"))));
            assertThat(run.sharded(Mode.PEER, 1000).ranks(4)).allSatisfy(seen -> {
                assertThat(seen.report().orElseThrow().nativeCalls()).isEqualTo(calls);
                assertThat(seen.report().orElseThrow().fallback().orElseThrow()).startsWith("shape exceeds residual communication budget: 85x48 takes ");
            });
            assertThat(run.sharded(Mode.NATIVE, 0).ranks(4)).allSatisfy(seen -> assertThat(seen.report().orElseThrow()).isEqualTo(new Report(0, calls, 0, 0, Optional.empty())));
        }
    }

    /** Rows of rotated weights are rotated where they lie, once in all, unless an adapter wants them as they are: then every rank rotates all of them. */
    @ParameterizedTest
    @EnumSource(Adapters.class)
    void rowsAreRotatedWhereTheyLie(Adapters adapters) {
        try (var tensors = Weights.ROTATED_INT8.make()) {
            List<AdapterFile> files = files(adapters);
            AtomicLong rotated = new AtomicLong();
            Run run = new Run(tensors, Precision.FP16_FP32RES, files, RankedSample.ref2va()).on(backend -> countingRotations(backend, rotated));
            run.ranks(4);
            long everywhere = rotated.getAndSet(0);
            run.sharded(Mode.NATIVE, 0).ranks(4);
            long inputs = 2L * RankedSample.CONFIG.layers() * 2 * 236;
            // Padding is rotated with the rest: 256 rows.
            long saved = 4 * inputs - inputs * 256 / 236;
            assertThat(everywhere - rotated.get()).isEqualTo(adapters == Adapters.NONE || adapters == Adapters.OUTPUTS ? saved : 0);
            files.forEach(AdapterFile::close);
        }
    }

    private static Backend countingRotations(Backend backend, AtomicLong rows) {
        return (Backend) Proxy.newProxyInstance(Backend.class.getClassLoader(), new Class<?>[] {Backend.class}, (proxy, method, arguments) -> {
            if (method.getName().equals("rotate")) {
                rows.addAndGet(((Operand) arguments[0]).values().size(0));
            }
            try {
                return method.invoke(backend, arguments);
            } catch (InvocationTargetException e) {
                throw e.getCause();
            }
        });
    }

    /** A residual row lies on one rank only, so scratch memory is less on each. */
    @Test
    void shardedRowsTakeLessMemory() {
        try (var tensors = Weights.ORIGINAL.make()) {
            Run run = new Run(tensors, Precision.FP32, List.of(), RankedSample.ref2va());
            long ordinary = run.ranks(4).getFirst().peakScratchBytes();
            assertThat(run.sharded(Mode.NATIVE, 0).ranks(4)).allSatisfy(seen -> assertThat(seen.peakScratchBytes()).isLessThan(ordinary));
        }
    }

    /** A tap looks on one rank at rows that all ranks have to bring. */
    @Test
    void aFiniteCheckOfAllRanksNamesTheFirstBadBlock() {
        DitInputs good = RankedSample.plain(31, 37, 17);
        float[] video = good.video().toFloats();
        video[40] = Float.NaN;
        Tensor bad = Tensor.ofFloats(video, good.video().shape().toArray());
        List<Backend> backends = IntStream.range(0, 4).<Backend>mapToObj(_ -> CpuBackend.open(1)).toList();
        try (var tensors = Weights.ORIGINAL.make(); BackendGroup group = BackendGroup.of(backends, TIMEOUT);
             RankedDit dit = RankedDit.open(group, tensors, RankedSample.CONFIG, Precision.FP32, Rounding.AS_STORED, MatrixLayout.ROW, WeightPlacement.RESIDENT,
                     Optional.of(new ResidualSharding(Mode.PEER, PLENTY)));
             DitSequence sequence = dit.prepare(good.layout(), good.text()); Modulation modulation = dit.modulation(good.timesteps());
             Workspace memory = backends.getFirst().workspace("test")) {
            Velocities out = Velocities.allocate(memory, RankedSample.CONFIG, good.layout());
            FiniteCheck check = new FiniteCheck(backends.getFirst(), "step 2 of 4");
            assertThatThrownBy(() -> dit.forward(sequence, modulation, good.rowTimesteps(), bad, good.audio(), out, check))
                    .isInstanceOf(NonFiniteException.class).hasMessageStartingWith("step 2 of 4, block0: ");
            dit.forward(sequence, modulation, good.rowTimesteps(), good.video(), good.audio(), out, check);
            assertThat(dit.meters()).allSatisfy(meter -> assertThat(meter.rowReductions().orElseThrow().peerCalls()).isPositive());
        }
    }

    /** A rank that fails within a block ends the others, which wait for its rows. */
    @Test
    void aFailureOfOneRankEndsAll() {
        try (var tensors = Weights.ORIGINAL.make()) {
            AtomicLong norms = new AtomicLong();
            Run run = new Run(tensors, Precision.FP32, List.of(), RankedSample.ref2va()).sharded(Mode.PEER, PLENTY).on(backend -> failing(backend, norms, 12));
            assertThatThrownBy(() -> run.ranks(4)).isInstanceOf(IllegalStateException.class).hasMessage("no more norms");
        }
    }

    private static Backend failing(Backend backend, AtomicLong calls, long at) {
        return (Backend) Proxy.newProxyInstance(Backend.class.getClassLoader(), new Class<?>[] {Backend.class}, (proxy, method, arguments) -> {
            if (method.getName().equals("rmsNormModulate") && calls.incrementAndGet() == at) {
                throw new IllegalStateException("no more norms");
            }
            try {
                return method.invoke(backend, arguments);
            } catch (InvocationTargetException e) {
                throw e.getCause();
            }
        });
    }
}
