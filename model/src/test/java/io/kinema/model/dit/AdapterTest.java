package io.kinema.model.dit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.within;

import io.kinema.compute.Backend;
import io.kinema.compute.Operand;
import io.kinema.compute.Precision;
import io.kinema.compute.Rotation;
import io.kinema.compute.Tensor;
import io.kinema.compute.Workspace;
import io.kinema.compute.cpu.CpuBackend;
import io.kinema.model.GoldenCase;
import io.kinema.model.QuantizedTensors;
import io.kinema.model.StageTap;
import io.kinema.model.adapter.AdapterFile;
import io.kinema.model.adapter.AdapterFixture;
import io.kinema.model.adapter.AdapterFixture.Entry;
import io.kinema.model.adapter.AdapterFixture.Fused;
import io.kinema.model.adapter.AdapterTarget;
import io.kinema.model.adapter.Alpha;
import io.kinema.model.adapter.FusedTensors;
import io.kinema.model.load.Parameters.Rounding;
import io.kinema.weights.Checkpoint;
import io.kinema.weights.DType;
import io.kinema.weights.FloatConversion;
import io.kinema.weights.MemoryTensors;
import io.kinema.weights.StoredTensor;
import io.kinema.weights.TensorSource;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Adapters on the transformer: every key style the same bits, scales, exchange and fusing. */
class AdapterTest {
    @TempDir
    private Path folder;

    private GoldenCase golden;
    private DitInputs inputs;
    private DitConfig config;
    private Checkpoint source;
    private Backend backend;

    @BeforeEach
    void open() {
        golden = GoldenCase.open(GoldenCase.bundled(), "transformer/t2va");
        inputs = DitGoldenTest.inputs(golden, golden.check("fp32").orElseThrow());
        config = DitConfig.read(GoldenCase.json(golden.weights().resolve("config.json")));
        source = Checkpoint.open(golden.weights());
        backend = CpuBackend.open(2);
    }

    @AfterEach
    void close() {
        backend.close();
        source.close();
        golden.close();
    }

    private Dit dit(TensorSource from, Precision precision) {
        return Dit.open(backend, from, config, precision, Rounding.of(precision));
    }

    private float[] evaluate(Dit dit) {
        try (Workspace memory = backend.workspace("test")) {
            Velocities out = dit.evaluate(inputs, memory, StageTap.NONE);
            float[] a = out.video().toFloats();
            float[] b = out.audio().toFloats();
            float[] both = Arrays.copyOf(a, a.length + b.length);
            System.arraycopy(b, 0, both, a.length, b.length);
            return both;
        }
    }

    private AdapterFile file(String name, Map<String, Entry> entries, Map<String, String> metadata) {
        return AdapterFile.open(AdapterFixture.write(folder.resolve(name + ".safetensors"), entries, metadata), DitTensors.forAdapters(config), Optional.empty());
    }

    private AdapterFile fixture(long seed) {
        return file("fixture" + seed, new AdapterFixture(config, 4, seed, true).diffusers("", ".lora_A.weight", ".lora_B.weight", true), Map.of());
    }

    private static double difference(float[] got, float[] expected) {
        return GoldenCase.relativeL2(Tensor.ofFloats(got, got.length), Tensor.ofFloats(expected, expected.length));
    }

    @ParameterizedTest
    @EnumSource(Precision.class)
    void everyKeyStyleGivesTheSameBits(Precision precision) {
        AdapterFixture f = new AdapterFixture(config, 4, 1, true);
        Map<String, String> alpha = Map.of("alpha", "" + AdapterFixture.ALPHA);
        Map<String, AdapterFile> styles = new LinkedHashMap<>();
        styles.put("diffusers", file("a", f.diffusers("transformer.", ".lora_A.weight", ".lora_B.weight", false), alpha));
        styles.put("PEFT", file("b", f.diffusers("base_model.model.", ".lora_A.default.weight", ".lora_B.default.weight", false),
                Map.of("lora_adapter_metadata", "{\"transformer.lora_alpha\": 4}")));
        styles.put("LightX2V", file("c", f.diffusers("", ".lora_A.default.weight", ".lora_B.default.weight", false), alpha));
        styles.put("kohya on diffusers names", file("d", f.diffusers("diffusion_model.", ".lora_down.weight", ".lora_up.weight", true), Map.of()));
        styles.put("dotted down and up", file("e", f.diffusers("model.", ".lora.down.weight", ".lora.up.weight", true), Map.of()));
        styles.put("ai-toolkit", file("f", f.original("diffusion_model.", ".lora_A.weight", ".lora_B.weight", false, Fused.SHARED), alpha));
        styles.put("Comfy fused", file("g", f.original("model.diffusion_model.", ".lora_down.weight", ".lora_up.weight", true, Fused.BLOCK_DIAGONAL), Map.of()));
        styles.put("Comfy split", file("h", f.original("diffusion_model.", ".lora_down.weight", ".lora_up.weight", true, Fused.SPLIT), Map.of()));
        styles.put("musubi", file("i", f.flattened(), Map.of()));
        styles.put("DiffSynth", file("j", f.original("", ".lora_A.default.weight", ".lora_B.default.weight", false, Fused.INTERLEAVED), alpha));
        styles.put("FlashGen", file("k", f.original("transformer.", ".lora_A.default.weight", ".lora_B.default.weight", false, Fused.INTERLEAVED),
                Map.of("key_format", "minimax-h3-native", "qkv_layout", "grouped", "lora_alpha", "4", "tasks", "t2va", "base_schedule", "1,0.5,0")));
        Map<String, float[]> results = new LinkedHashMap<>();
        try (Dit dit = dit(source, precision)) {
            float[] base = evaluate(dit);
            styles.forEach((name, file) -> {
                try (file; LoadedAdapter loaded = dit.load(file.adapter())) {
                    dit.use(List.of(new ScaledAdapter(loaded, 0.75)));
                    results.put(name, evaluate(dit));
                    dit.use(List.of());
                }
            });
            assertThat(difference(results.get("diffusers"), base)).isGreaterThan(0.05);
        }
        assertThat(results).hasSize(11).allSatisfy((name, bits) -> assertThat(bits).as(name).isEqualTo(results.get("diffusers")));
    }

    @ParameterizedTest
    @EnumSource(Precision.class)
    void aScaleOfZeroIsNoAdapterAndLeavingItIsToo(Precision precision) {
        try (Dit dit = dit(source, precision); AdapterFile file = fixture(1); LoadedAdapter loaded = dit.load(file.adapter())) {
            float[] base = evaluate(dit);
            dit.use(List.of(new ScaledAdapter(loaded, 0)));
            assertThat(evaluate(dit)).isEqualTo(base);
            dit.use(List.of(new ScaledAdapter(loaded, 1)));
            assertThat(evaluate(dit)).isNotEqualTo(base);
            dit.use(List.of());
            assertThat(evaluate(dit)).isEqualTo(base);
        }
    }

    /** What an adapter adds does not depend on how the base is stored: rotated rows would make it noise. */
    @ParameterizedTest
    @EnumSource(Precision.class)
    void adaptersAddTheSameToRotatedIntegers(Precision precision) {
        try (MemoryTensors integers = QuantizedTensors.of(source, QuantizedTensors::blockMatrix, Optional.of(new Rotation(16)));
             Dit floats = dit(source, Precision.FP32); Dit dit = dit(integers, precision); AdapterFile file = fixture(1);
             LoadedAdapter onFloats = floats.load(file.adapter()); LoadedAdapter loaded = dit.load(file.adapter())) {
            float[] base = evaluate(dit);
            float[] expected = minus(evaluate(floats, onFloats, 0.75), evaluate(floats));
            assertThat(difference(minus(evaluate(dit, loaded, 0.75), base), expected)).isLessThan(0.05);
            assertThat(evaluate(dit, loaded, 0)).as("scale 0").isEqualTo(base);
        }
    }

    private float[] evaluate(Dit dit, LoadedAdapter adapter, double scale) {
        dit.use(List.of(new ScaledAdapter(adapter, scale)));
        float[] result = evaluate(dit);
        dit.use(List.of());
        return result;
    }

    private static float[] minus(float[] a, float[] b) {
        float[] difference = a.clone();
        for (int i = 0; i < a.length; i++) {
            difference[i] -= b[i];
        }
        return difference;
    }

    @Test
    void aStepWithTablesOfOtherAdaptersIsRefused() {
        try (Dit dit = dit(source, Precision.FP32); AdapterFile file = fixture(1); LoadedAdapter loaded = dit.load(file.adapter());
             Workspace memory = backend.workspace("test"); Modulation without = dit.modulation(inputs.timesteps())) {
            dit.use(List.of(new ScaledAdapter(loaded, 1)));
            Velocities out = Velocities.allocate(memory, config, inputs.layout());
            try (DitSequence sequence = dit.prepare(inputs.layout(), inputs.text()); Modulation with = dit.modulation(inputs.timesteps())) {
                assertThatIllegalStateException().isThrownBy(() -> dit.forward(sequence, without, inputs.rowTimesteps(), inputs.video(), inputs.audio(), out))
                        .withMessageContaining("other adapters");
                dit.use(List.of(new ScaledAdapter(loaded, 1)));
                dit.forward(sequence, with, inputs.rowTimesteps(), inputs.video(), inputs.audio(), out);
            }
        }
    }

    @Test
    void scalesAddWhatTheFusedWeightsWould() {
        try (Dit dit = dit(source, Precision.FP32); AdapterFile file = fixture(1); AdapterFile other = fixture(2);
             LoadedAdapter loaded = dit.load(file.adapter()); LoadedAdapter second = dit.load(other.adapter())) {
            for (double scale : new double[] {0.75, 1, -0.5}) {
                dit.use(List.of(new ScaledAdapter(loaded, scale)));
                assertThat(difference(evaluate(dit), withAdded(Map.of(file, scale)))).as("scale %s", scale).isLessThan(2e-6);
            }
            dit.use(List.of(new ScaledAdapter(loaded, 0.75), new ScaledAdapter(second, -0.5)));
            assertThat(difference(evaluate(dit), withAdded(Map.of(file, 0.75, other, -0.5)))).as("two at once").isLessThan(2e-6);
        }
    }

    /** The same sum made here, in double, into the weights. */
    private float[] withAdded(Map<AdapterFile, Double> adapters) {
        Map<String, double[]> deltas = new HashMap<>();
        adapters.forEach((file, scale) -> file.adapter().pairs().forEach(p -> {
            double[] a = FloatConversion.toDoubles(p.down());
            double[] b = FloatConversion.toDoubles(p.up());
            int out = p.up().shape().size(0);
            int in = p.down().shape().size(1);
            int rank = p.up().shape().size(1);
            double[] whole = deltas.computeIfAbsent(p.target().module() + ".weight", n -> new double[(int) source.get(n).shape().elements()]);
            int at = p.target().part() == AdapterTarget.Part.GATE ? whole.length / 2 : 0;
            for (int o = 0; o < out; o++) {
                for (int i = 0; i < in; i++) {
                    double sum = 0;
                    for (int r = 0; r < rank; r++) {
                        sum += b[o * rank + r] * a[r * in + i];
                    }
                    whole[at + o * in + i] += scale * p.factor() * sum;
                }
            }
        }));
        MemoryTensors.Builder added = MemoryTensors.builder("added");
        for (String name : source.names()) {
            StoredTensor stored = source.get(name);
            double[] values = FloatConversion.toDoubles(stored);
            double[] delta = deltas.getOrDefault(name, new double[values.length]);
            float[] sum = new float[values.length];
            for (int i = 0; i < sum.length; i++) {
                sum[i] = (float) (values[i] + delta[i]);
            }
            added.rounded(name, DType.F32, sum, stored.shape().toArray());
        }
        try (MemoryTensors tensors = added.build(); Dit dit = dit(tensors, Precision.FP32)) {
            return evaluate(dit);
        }
    }

    /** Alpha 8, alpha 128, and none beside a Turbo's name, whose published alpha is 8: the delta's norms are 1 : 16 : 1. */
    @Test
    void fieldReport9DeltaNormsAreOneToSixteenToOne() {
        String turbo = "minimax_h3_fl2v_turbo_4step_v1.2_768p_bf16";
        Map<String, Entry> keys = new AdapterFixture(config, 128, 3, false).diffusers("", ".lora_A.default.weight", ".lora_B.default.weight", false);
        double[] norms = new double[3];
        List<Map<String, String>> metadata = List.of(Map.of("alpha", "8"), Map.of("alpha", "128"), Map.of());
        for (int i = 0; i < 3; i++) {
            try (AdapterFile file = file(turbo, keys, metadata.get(i))) {
                norms[i] = firstLayerDelta(file);
            }
        }
        assertThat(norms[1] / norms[0]).isCloseTo(16, within(1e-6));
        assertThat(norms[2] / norms[0]).isCloseTo(1, within(1e-6));
    }

    /** Norm of what the adapter adds to the queries of block 0 for one row. */
    private double firstLayerDelta(AdapterFile file) {
        try (Dit dit = dit(source, Precision.FP32); LoadedAdapter loaded = dit.load(file.adapter()); Workspace memory = backend.workspace("test")) {
            var delta = loaded.deltas(1).get(AdapterTarget.whole("transformer_blocks.0.attn.to_q"));
            float[] row = new float[config.hidden()];
            Arrays.fill(row, 1);
            Tensor inner = memory.f32(1, delta.rank());
            backend.linear(Operand.of(Tensor.ofFloats(row, 1, row.length)), delta.down(), inner);
            Tensor out = memory.f32(1, config.inner());
            backend.linear(Operand.of(inner), delta.up(), out);
            double sum = 0;
            for (float v : out.toFloats()) {
                sum += Math.pow(delta.factor() * v, 2);
            }
            return Math.sqrt(sum);
        }
    }

    @Test
    void halfPrecisionFollowsWithinItsRounding() {
        try (Dit exact = dit(source, Precision.FP32); Dit half = dit(source, Precision.FP16_FP32RES); AdapterFile file = fixture(1);
             LoadedAdapter one = exact.load(file.adapter()); LoadedAdapter two = half.load(file.adapter())) {
            exact.use(List.of(new ScaledAdapter(one, 1)));
            half.use(List.of(new ScaledAdapter(two, 1)));
            assertThat(difference(evaluate(half), evaluate(exact))).isLessThan(3e-3).isGreaterThan(1e-6);
        }
    }

    @Test
    void fusingRoundsOnceToTheCheckpointsDtype() {
        AdapterFixture f = new AdapterFixture(config, 4, 1, true);
        Map<String, Entry> entries = f.diffusers("", ".lora_A.weight", ".lora_B.weight", false);
        float[] diff = new float[config.hidden()];
        Arrays.fill(diff, 0.25f);
        float[] set = new float[config.hidden()];
        Arrays.fill(set, 1.5f);
        entries.put("transformer_blocks.1.norm1.diff", new Entry(diff, diff.length));
        entries.put("norm_out.norm.set_weight", new Entry(set, set.length));
        Map<String, String> metadata = Map.of("format", "fastvideo-lora-v2", "finetuned_model", "FastVideo/FastH3", "low_rank_tensors",
                "" + (entries.size() - 2), "diff_tensors", "1", "set_weight_tensors", "1");
        try (AdapterFile file = file("fast", entries, metadata); FusedTensors fused = FusedTensors.of(source, file.adapter())) {
            assertThat(FloatConversion.toFloats(fused.get("norm_out.norm.weight"))).containsOnly(1.5f);
            float[] before = FloatConversion.toFloats(source.get("transformer_blocks.1.norm1.weight"));
            float[] after = FloatConversion.toFloats(fused.get("transformer_blocks.1.norm1.weight"));
            for (int i = 0; i < before.length; i++) {
                assertThat(after[i]).isEqualTo(FloatConversion.fromBf16(FloatConversion.toBf16(before[i] + 0.25f)));
            }
            assertThat(fused.get("proj_in.bias").data().address()).as("not touched").isEqualTo(source.get("proj_in.bias").data().address());
            assertGateHalf(file, fused);
            try (Dit dit = dit(fused, Precision.FP32); Dit base = dit(source, Precision.FP32)) {
                assertThat(difference(evaluate(dit), evaluate(base))).isGreaterThan(0.05);
            }
        }
    }

    private void assertGateHalf(AdapterFile file, FusedTensors fused) {
        String module = "transformer_blocks.0.ff.net.0.proj";
        var pair = file.adapter().pairs().stream().filter(p -> p.target().equals(new AdapterTarget(module,
                AdapterTarget.Part.GATE))).findFirst().orElseThrow();
        double[] a = FloatConversion.toDoubles(pair.down());
        double[] b = FloatConversion.toDoubles(pair.up());
        double sum = FloatConversion.toDoubles(source.get(module + ".weight"))[config.ffn() * config.hidden()];
        for (int r = 0; r < 4; r++) {
            sum += b[r] * a[r * config.hidden()];
        }
        double got = FloatConversion.toDoubles(fused.get(module + ".weight"))[config.ffn() * config.hidden()];
        assertThat(got).isCloseTo(sum, within(Math.abs(sum) / 256 + 1e-6));
        assertThat(fused.get(module + ".weight").dtype()).isEqualTo(DType.BF16);
    }

    @Test
    void alphaIsReadFromText() {
        assertThat(Alpha.parse("8")).contains(Alpha.of(8));
        assertThat(Alpha.parse("rank")).contains(Alpha.RANK);
        assertThat(Alpha.parse("-1")).isEmpty();
        assertThat(Alpha.parse("NaN")).isEmpty();
        assertThat(Alpha.parse("much")).isEmpty();
    }
}
