package io.kinema.model.dit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kinema.compute.Backend;
import io.kinema.compute.MatrixLayout;
import io.kinema.compute.Precision;
import io.kinema.compute.Tensor;
import io.kinema.compute.Workspace;
import io.kinema.compute.collective.Communicator;
import io.kinema.compute.cpu.CpuBackend;
import io.kinema.model.FiniteCheck;
import io.kinema.model.GoldenCase;
import io.kinema.model.NonFiniteException;
import io.kinema.model.PoisonedMemory;
import io.kinema.model.StageTap;
import io.kinema.model.TestBackends;
import io.kinema.model.load.Parameters.Rounding;
import io.kinema.model.load.WeightPlacement;
import io.kinema.weights.Checkpoint;
import java.util.Arrays;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Splitting a request's work must not change a bit of the result. */
class DitTest {
    private GoldenCase golden;
    private DitInputs inputs;
    private DitConfig config;
    private Checkpoint source;

    static Iterable<Supplier<Backend>> backends() {
        return TestBackends.all();
    }

    @BeforeEach
    void open() {
        golden = GoldenCase.open(GoldenCase.bundled(), "transformer/ref2va");
        inputs = DitGoldenTest.inputs(golden, golden.check("fp32").orElseThrow());
        config = DitConfig.read(GoldenCase.json(golden.weights().resolve("config.json")));
        source = Checkpoint.open(golden.weights());
    }

    @AfterEach
    void close() {
        source.close();
        golden.close();
    }

    private Dit dit(Backend backend, Precision precision) {
        return Dit.open(backend, source, config, precision, Rounding.of(precision));
    }

    /** Prepares, evaluates and runs everything anew, as a single forward of the reference does. */
    private float[] plain(Dit dit, Backend backend, DitLayout layout, float[] timesteps) {
        try (DitSequence sequence = dit.prepare(layout, inputs.text()); Modulation modulation = dit.modulation(timesteps)) {
            return step(dit, backend, sequence, modulation, inputs.video(), StageTap.NONE);
        }
    }

    private float[] step(Dit dit, Backend backend, DitSequence sequence, Modulation modulation, Tensor video, StageTap tap) {
        try (Workspace memory = backend.workspace("test")) {
            Velocities out = Velocities.allocate(memory, config, sequence.layout());
            dit.forward(sequence, modulation, inputs.rowTimesteps(), video, inputs.audio(), out, tap);
            float[] a = out.video().toFloats();
            float[] b = out.audio().toFloats();
            float[] both = Arrays.copyOf(a, a.length + b.length);
            System.arraycopy(b, 0, both, a.length, b.length);
            return both;
        }
    }

    @ParameterizedTest
    @MethodSource("backends")
    void modulationEvaluatedOnceIsModulationInPlace(Supplier<Backend> backends) {
        float[] request = {0.9371f, 0.123f, 0.25f, 0.5f, 0.75f, 0.8f, 0.01f};
        float[] all = Arrays.copyOf(request, request.length + inputs.timesteps().length);
        for (int i = 0; i < inputs.timesteps().length; i++) {
            all[request.length + i] = inputs.timesteps()[inputs.timesteps().length - 1 - i];
        }
        for (Precision precision : Precision.values()) {
            try (Backend backend = backends.get(); Dit dit = dit(backend, precision)) {
                float[] inPlace = plain(dit, backend, inputs.layout(), inputs.timesteps());
                assertThat(plain(dit, backend, inputs.layout(), all)).as(precision.label()).isEqualTo(inPlace);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("backends")
    void plansDifferByTheirOperandsRounding(Supplier<Backend> backends) {
        try (Backend backend = backends.get(); Dit fp32 = dit(backend, Precision.FP32); Dit fp16 = dit(backend, Precision.FP16_FP32RES);
             Dit bf16 = dit(backend, Precision.BF16_FP32RES)) {
            Tensor exact = vector(plain(fp32, backend, inputs.layout(), inputs.timesteps()));
            double half = GoldenCase.relativeL2(vector(plain(fp16, backend, inputs.layout(), inputs.timesteps())), exact);
            double brain = GoldenCase.relativeL2(vector(plain(bf16, backend, inputs.layout(), inputs.timesteps())), exact);
            assertThat(half).as("FP16 keeps three more bits than BF16").isBetween(brain / 20, brain / 4).isLessThan(2e-3);
        }
    }

    @ParameterizedTest
    @MethodSource("backends")
    void columnMajorMatricesGiveTheSameValues(Supplier<Backend> backends) {
        try (Backend backend = backends.get(); Dit rows = dit(backend, Precision.FP16_FP32RES);
             Dit columns = Dit.open(backend, source, config, Precision.FP16_FP32RES, Rounding.F16, MatrixLayout.COLUMN, WeightPlacement.RESIDENT, Communicator.ALONE)) {
            float[] expected = plain(rows, backend, inputs.layout(), inputs.timesteps());
            float[] got = plain(columns, backend, inputs.layout(), inputs.timesteps());
            if (backend.name().equals("reference")) {
                assertThat(got).isEqualTo(expected);
            } else {
                // A library may sum in another order, and a sum near a tie then rounds to the neighbouring FP16 value.
                assertThat(GoldenCase.relativeL2(vector(got), vector(expected))).isLessThan(1e-4);
            }
        }
    }

    private static Tensor vector(float[] values) {
        return Tensor.ofFloats(values, values.length);
    }

    @ParameterizedTest
    @MethodSource("backends")
    void aPreparedSequenceServesEveryStep(Supplier<Backend> backends) {
        try (Backend backend = backends.get(); Dit dit = dit(backend, Precision.FP32)) {
            float[] once = plain(dit, backend, inputs.layout(), inputs.timesteps());
            try (DitSequence sequence = dit.prepare(inputs.layout(), inputs.text()); Modulation modulation = dit.modulation(inputs.timesteps())) {
                float[] first = step(dit, backend, sequence, modulation, inputs.video(), StageTap.NONE);
                step(dit, backend, sequence, modulation, Tensor.ofFloats(new float[inputs.video().toFloats().length], inputs.video().shape().toArray()), StageTap.NONE);
                float[] again = step(dit, backend, sequence, modulation, inputs.video(), StageTap.NONE);
                assertThat(first).isEqualTo(once);
                assertThat(again).isEqualTo(once);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("backends")
    void aWholeForwardHasTheSameBits(Supplier<Backend> backends) {
        try (Backend backend = backends.get(); Dit dit = dit(backend, Precision.FP32); Workspace memory = backend.workspace("test")) {
            float[] split = plain(dit, backend, inputs.layout(), inputs.timesteps());
            Velocities whole = dit.evaluate(inputs, memory, StageTap.NONE);
            assertThat(Arrays.copyOf(split, whole.video().toFloats().length)).isEqualTo(whole.video().toFloats());
            assertThat(Arrays.copyOfRange(split, whole.video().toFloats().length, split.length)).isEqualTo(whole.audio().toFloats());
        }
    }

    @ParameterizedTest
    @EnumSource
    void threadsDoNotChangeABit(Precision precision) {
        try (Backend one = CpuBackend.open(1); Backend three = CpuBackend.open(3); Dit alone = dit(one, precision); Dit shared = dit(three, precision)) {
            assertThat(plain(shared, three, inputs.layout(), inputs.timesteps())).isEqualTo(plain(alone, one, inputs.layout(), inputs.timesteps()));
        }
    }

    @ParameterizedTest
    @MethodSource("backends")
    void aTapChangesNothing(Supplier<Backend> backends) {
        try (Backend backend = backends.get(); Dit dit = dit(backend, Precision.FP32);
             DitSequence sequence = dit.prepare(inputs.layout(), inputs.text()); Modulation modulation = dit.modulation(inputs.timesteps())) {
            assertThat(step(dit, backend, sequence, modulation, inputs.video(), (name, value) -> { }))
                    .isEqualTo(step(dit, backend, sequence, modulation, inputs.video(), StageTap.NONE));
        }
    }

    @ParameterizedTest
    @MethodSource("backends")
    void wantedRowsAreRowsOfTheWhole(Supplier<Backend> backends) {
        int[] video = {40, 3, 17, 18, 19};
        int[] audio = {0, 139};
        try (Backend backend = backends.get(); Dit dit = dit(backend, Precision.FP32)) {
            float[] whole = plain(dit, backend, inputs.layout(), inputs.timesteps());
            float[] some = plain(dit, backend, inputs.layout().returning(video, audio), inputs.timesteps());
            float[] expected = new float[some.length];
            int at = copyRows(whole, 0, config.videoPatchDim(), video, expected, 0);
            at = copyRows(whole, inputs.layout().videoRows() * config.videoPatchDim(), config.audioChannels(), audio, expected, at);
            assertThat(at).isEqualTo(some.length);
            if (backend.name().equals("reference")) {
                assertThat(some).isEqualTo(expected);
            } else {
                // A library may sum a product of few rows in another order than one of many.
                assertThat(GoldenCase.relativeL2(vector(some), vector(expected))).isLessThan(1e-6);
            }
        }
    }

    private static int copyRows(float[] from, int first, int width, int[] rows, float[] to, int at) {
        for (int row : rows) {
            System.arraycopy(from, first + row * width, to, at, width);
            at += width;
        }
        return at;
    }

    @ParameterizedTest
    @MethodSource("backends")
    void readsNothingThatWasNotWritten(Supplier<Backend> backends) {
        for (Precision precision : Precision.values()) {
            try (Backend backend = backends.get(); Dit clean = dit(backend, precision); Dit poisoned = dit(PoisonedMemory.of(backend), precision)) {
                float[] expected = plain(clean, backend, inputs.layout(), inputs.timesteps());
                assertThat(plain(poisoned, backend, inputs.layout(), inputs.timesteps())).as(precision.label()).isEqualTo(expected);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("backends")
    void rowsThatNobodyClaimsAreZero(Supplier<Backend> backends) {
        int rows = inputs.layout().rows();
        double[] positions = Arrays.copyOf(golden.doubles(golden.check("fp32").orElseThrow(), "position_ids"), 3 * (rows + 2));
        int[] tags = Arrays.copyOf(golden.ints(golden.check("fp32").orElseThrow(), "token_tags"), rows + 2);
        DitLayout padded = DitLayout.of(positions, tags, inputs.layout().text(), inputs.layout().video(), inputs.layout().audio());
        float[] rowTimesteps = Arrays.copyOf(inputs.rowTimesteps(), rows + 2);
        rowTimesteps[rows] = rowTimesteps[rows + 1] = inputs.timesteps()[0];
        try (Backend backend = backends.get(); Dit dit = dit(PoisonedMemory.of(backend), Precision.FP32); Workspace memory = backend.workspace("test");
             DitSequence sequence = dit.prepare(padded, inputs.text()); Modulation modulation = dit.modulation(inputs.timesteps())) {
            Velocities out = Velocities.allocate(memory, config, padded);
            dit.forward(sequence, modulation, rowTimesteps, inputs.video(), inputs.audio(), out, new FiniteCheck(backend, "step 1 of 1"));
            for (float v : out.video().toFloats()) {
                assertThat(v).isFinite();
            }
        }
    }

    @ParameterizedTest
    @MethodSource("backends")
    void modalitiesMayBeAbsent(Supplier<Backend> backends) {
        int[] none = {};
        int[] four = {0, 1, 2, 3};
        try (Backend backend = backends.get(); Dit dit = dit(PoisonedMemory.of(backend), Precision.FP32); Workspace memory = backend.workspace("test")) {
            DitLayout videoOnly = DitLayout.of(new double[12], new int[] {0, 0, 0, 0}, none, four, none);
            DitLayout audioOnly = DitLayout.of(new double[12], new int[] {2, 2, 2, 2}, none, none, four);
            float[] timesteps = {0.25f};
            int[] rows = {0, 0, 0, 0};
            Tensor noText = memory.f32(0, config.textDim());
            Velocities video = dit.evaluate(DitInputs.of(videoOnly, noText, timesteps, rows, inputs.video().rows(0, 4), memory.f32(0, config.audioChannels())), memory, StageTap.NONE);
            Velocities audio = dit.evaluate(DitInputs.of(audioOnly, noText, timesteps, rows, memory.f32(0, config.videoPatchDim()), inputs.audio().rows(0, 4)), memory, StageTap.NONE);
            assertThat(video.video().toFloats()).hasSize(4 * config.videoPatchDim()).doesNotContain(Float.NaN);
            assertThat(video.audio().toFloats()).isEmpty();
            assertThat(audio.audio().toFloats()).hasSize(4 * config.audioChannels()).doesNotContain(Float.NaN);
        }
    }

    @ParameterizedTest
    @MethodSource("backends")
    void aFiniteCheckNamesTheFirstBadBlock(Supplier<Backend> backends) {
        float[] video = inputs.video().toFloats();
        video[7] = Float.NaN;
        Tensor bad = Tensor.ofFloats(video, inputs.video().shape().toArray());
        try (Backend backend = backends.get(); Dit dit = dit(backend, Precision.FP32);
             DitSequence sequence = dit.prepare(inputs.layout(), inputs.text()); Modulation modulation = dit.modulation(inputs.timesteps())) {
            assertThatThrownBy(() -> step(dit, backend, sequence, modulation, bad, new FiniteCheck(backend, "step 2 of 4")))
                    .isInstanceOf(NonFiniteException.class).hasMessageStartingWith("step 2 of 4, block0: ");
            assertThat(step(dit, backend, sequence, modulation, inputs.video(), new FiniteCheck(backend, "step 2 of 4"))).as("usable after a failure").isNotEmpty();
        }
    }

    @ParameterizedTest
    @MethodSource("backends")
    void refusesInputsThatDoNotFit(Supplier<Backend> backends) {
        try (Backend backend = backends.get(); Dit dit = dit(backend, Precision.FP32);
             DitSequence sequence = dit.prepare(inputs.layout(), inputs.text()); Modulation modulation = dit.modulation(inputs.timesteps())) {
            assertThatThrownBy(() -> dit.prepare(inputs.layout(), inputs.audio())).isInstanceOf(IllegalArgumentException.class).hasMessageContaining("dit text states");
            assertThatThrownBy(() -> step(dit, backend, sequence, modulation, inputs.audio(), StageTap.NONE)).hasMessageContaining("dit video rows");
            assertThatThrownBy(() -> dit.modulation(new float[0])).hasMessageContaining("got none");
            assertThatThrownBy(() -> dit.modulation(new float[] {Float.NaN})).hasMessageContaining("got NaN");
            try (Modulation other = dit.modulation(new float[] {0.5f})) {
                assertThatThrownBy(() -> step(dit, backend, sequence, other, inputs.video(), StageTap.NONE)).hasMessageContaining("expected one of those evaluated: [0.5]");
            }
        }
    }
}
