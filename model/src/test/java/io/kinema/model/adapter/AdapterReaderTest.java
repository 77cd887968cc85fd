package io.kinema.model.adapter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.within;

import io.kinema.model.GoldenCase;
import io.kinema.model.adapter.Adapter.AlphaUsed.Source;
import io.kinema.model.adapter.AdapterFixture.Entry;
import io.kinema.model.adapter.AdapterRecognizer.Recognized;
import io.kinema.model.dit.DitConfig;
import io.kinema.model.dit.DitTensors;
import io.kinema.weights.BadWeightsException;
import io.kinema.weights.MemoryTensors;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AdapterReaderTest {
    private static final DitConfig CONFIG = DitConfig.read(GoldenCase.json(GoldenCase.bundled().resolve("checkpoint/transformer/config.json")));
    private static final TransformerTensors TRANSFORMER = DitTensors.forAdapters(CONFIG);
    private static final String TURBO = "minimax_h3_fl2v_turbo_4step_v1.2_768p_bf16.safetensors";
    private static final Optional<Alpha> NOT_STATED = Optional.empty();

    @TempDir
    private Path folder;

    private static Map<String, Entry> peft() {
        return new AdapterFixture(CONFIG, 4, 1, false).diffusers("", ".lora_A.default.weight", ".lora_B.default.weight", false);
    }

    private Path write(String name, Map<String, Entry> entries, Map<String, String> metadata) {
        return AdapterFixture.write(folder.resolve(name), entries, metadata);
    }

    private String refusal(Path file) {
        return refusal(file, NOT_STATED);
    }

    private String refusal(Path file, Optional<Alpha> otherwise) {
        String[] message = new String[1];
        assertThatExceptionOfType(BadWeightsException.class).isThrownBy(() -> AdapterFile.open(file, TRANSFORMER, otherwise).close())
                .satisfies(e -> message[0] = e.getMessage());
        assertThat(message[0]).doesNotContain("\n").contains(file.toString());
        return message[0];
    }

    private Adapter read(Path file, Optional<Alpha> otherwise) {
        try (AdapterFile open = AdapterFile.open(file, TRANSFORMER, otherwise)) {
            return open.adapter();
        }
    }

    @Test
    void fieldReport9AlphaComesFromTheFileThenFromWhatIsKnownElseItIsRefused() {
        Adapter stated = read(write(TURBO, peft(), Map.of("alpha", "128")), NOT_STATED);
        assertThat(stated.alpha().from()).as("the file wins over what is published").isEqualTo(Source.FILE);
        assertThat(stated.pairs()).allSatisfy(p -> assertThat(p.factor()).isEqualTo(128 / 4.0));
        Adapter known = read(write(TURBO, peft(), Map.of()), NOT_STATED);
        assertThat(known.alpha()).isEqualTo(new Adapter.AlphaUsed("8", Source.KNOWN));
        assertThat(known.pairs()).allSatisfy(p -> assertThat(p.factor()).isEqualTo(8 / 4.0));
        Path unknown = write("mine.safetensors", peft(), Map.of());
        assertThat(refusal(unknown)).contains("no alpha in the file");
        assertThat(read(unknown, Optional.of(Alpha.of(2))).pairs()).allSatisfy(p -> assertThat(p.factor()).isEqualTo(0.5));
        assertThat(read(unknown, Optional.of(Alpha.RANK)).pairs()).allSatisfy(p -> assertThat(p.factor()).isEqualTo(1));
    }

    @Test
    void fieldReport10OneUnmatchedKeyRefusesTheWholeFile() {
        Map<String, Entry> entries = new LinkedHashMap<>();
        for (int i = 0; i < 4; i++) {
            entries.put("transformer_blocks.90" + i + ".attn.to_q.lora_A.weight", new Entry(new float[4], 4, 1));
        }
        entries.putAll(peft());
        assertThat(refusal(write("strange.safetensors", entries, Map.of("alpha", "4"))))
                .contains("60 of 64 tensors belong to this transformer", "transformer_blocks.900.attn.to_q.lora_A.weight",
                        "transformer_blocks.902.attn.to_q.lora_A.weight").doesNotContain("transformer_blocks.903.");
        assertThat(refusal(write("other.safetensors", Map.of("unet.down.lora_A.weight", new Entry(new float[4], 2, 2)), Map.of())))
                .contains("0 of 1 tensors");
    }

    @Test
    void aRemovedTensorIsRefusedByItsModule() {
        Map<String, Entry> entries = peft();
        entries.remove("transformer_blocks.1.attn.to_k.lora_B.default.weight");
        assertThat(refusal(write("cut.safetensors", entries, Map.of("alpha", "4")))).contains("transformer_blocks.1.attn.to_k", "no B (up) tensor");
        entries.remove("transformer_blocks.1.attn.to_k.lora_A.default.weight");
        assertThat(refusal(write(TURBO, entries, Map.of()))).contains("29 of 30 layers", "first missing are transformer_blocks.1.attn.to_k");
    }

    @Test
    void anAddedTensorIsRefusedByName() {
        Map<String, Entry> entries = peft();
        entries.put("transformer_blocks.0.attn.to_q.lora_A.weight", entries.get("transformer_blocks.0.attn.to_q.lora_A.default.weight"));
        assertThat(refusal(write("twice.safetensors", entries, Map.of("alpha", "4"))))
                .contains("transformer_blocks.0.attn.to_q.lora_A.default.weight and transformer_blocks.0.attn.to_q.lora_A.weight mean the same layer");
    }

    @Test
    void aValueThatIsNotFiniteIsRefusedByTensorAndElement() {
        for (float bad : new float[] {Float.NaN, Float.POSITIVE_INFINITY}) {
            Map<String, Entry> entries = peft();
            entries.get("transformer_blocks.2.ff.net.2.lora_B.default.weight").values()[7] = bad;
            assertThat(refusal(write("bad.safetensors", entries, Map.of("alpha", "4"))))
                    .contains("transformer_blocks.2.ff.net.2.lora_B.default.weight element 7 is " + bad);
        }
    }

    @Test
    void aShapeOfAnotherModelIsRefusedByTensor() {
        Map<String, Entry> entries = peft();
        entries.put("transformer_blocks.0.attn.to_q.lora_A.default.weight", new Entry(new float[4 * 50], 4, 50));
        assertThat(refusal(write("wide.safetensors", entries, Map.of("alpha", "4"))))
                .contains("transformer_blocks.0.attn.to_q.lora_A.default.weight has shape [4, 50], expected [rank, 48]");
    }

    @Test
    void wrongMetadataIsRefusedByKey() {
        assertThat(refusal(write("a.safetensors", peft(), Map.of("alpha", "eight")))).contains("metadata alpha is 'eight'");
        assertThat(refusal(write("b.safetensors", peft(), Map.of("alpha", "-1")))).contains("metadata alpha is '-1'");
        assertThat(refusal(write("c.safetensors", peft(), Map.of("alpha", "4", "qkv_layout", "spiral")))).contains("qkv_layout is 'spiral'");
        assertThat(refusal(write("d.safetensors", peft(), Map.of("lora_adapter_metadata", "{"))))  .contains("is no JSON");
        assertThat(refusal(write("e.safetensors", peft(), Map.of("lora_adapter_metadata", "{\"transformer.use_dora\": true}")))).contains("DoRA");
        assertThat(refusal(write("f.safetensors", peft(), Map.of("alpha", "4", "tasks", "t2va", "base_schedule", "0.2,0.7,0")))).contains("schedule: got [0.2, 0.7, 0.0]");
        assertThat(refusal(write("g.safetensors", peft(), Map.of("alpha", "4", "tasks", "t3va", "base_schedule", "1,0")))).contains("tasks: got [t3va]");
    }

    @Test
    void rankStabilisedAdaptersDivideByTheRoot() {
        Adapter adapter = read(write("rs.safetensors", peft(), Map.of("lora_adapter_metadata",
                "{\"transformer.lora_alpha\": 6, \"transformer.use_rslora\": true, \"transformer.alpha_pattern\": {\"to_q\": 2}}")), NOT_STATED);
        assertThat(adapter.pairs()).allSatisfy(p ->
                assertThat(p.factor()).isCloseTo(p.target().module().endsWith("to_q") ? 1 : 3, within(1e-12)));
    }

    @ParameterizedTest
    @CsvSource({
        "fl2v_turbo_4step_v0.1, t2va+fl2va, 4, 12, 8",
        "fl2v_turbo_4step_v1.0_768p_bf16, t2va+fl2va, 4, 6, 128",
        "fl2v_turbo_4step_v1.1_768p_bf16, t2va+fl2va, 4, 6, 128",
        "fl2v_turbo_4step_v1.2_768p_bf16, t2va+fl2va, 4, 6, 8",
        "fl2v_turbo_8step_v1.0_bf16, t2va+fl2va, 8, 12, 8",
        "fl2v_turbo_8step_v1.0_768p_bf16, t2va+fl2va, 8, 6, 8",
        "ref2v_turbo_4step_v0.1_bf16, ref2va, 4, 12, 8",
        "ref2v_turbo_8step_v1.0_768p_bf16, ref2va, 8, 6, 8"})
    void lightX2VTurboCarriesItsContract(String middle, String tasks, int evaluations, double shift, int alpha) {
        Adapter adapter = read(write("minimax_h3_" + middle + ".safetensors", peft(), Map.of()), NOT_STATED);
        assertThat(adapter.recognition().by()).isEqualTo("file name");
        assertThat(adapter.alpha().value()).isEqualTo("" + alpha);
        SamplingContract contract = adapter.contract().orElseThrow();
        assertThat(String.join("+", contract.tasks())).isEqualTo(tasks);
        assertThat(contract.evaluations()).isEqualTo(evaluations);
        assertThat(contract.videoShift()).isEqualTo(shift);
        assertThat(contract.audioShift()).isEqualTo(3);
        assertThat(adapter.partition()).contains(tasks.equals("ref2va") ? Partition.TRANSFORMER_REF : Partition.TRANSFORMER);
    }

    @Test
    void contentIsRecognisedBeforeTheName() {
        try (MemoryTensors none = MemoryTensors.builder("renamed").build()) {
            Recognized renamed = AdapterRecognizer.recognize(new AdapterSource(none, Map.of(), "mine.safetensors", digest("c3d4a2cf", "b689"), 5));
            assertThat(renamed.as()).isEqualTo(new Adapter.Recognition("minimax_h3_fl2v_turbo_4step_v1.2_768p_bf16", "content hash"));
            Recognized misnamed = AdapterRecognizer.recognize(new AdapterSource(none, Map.of(), TURBO, digest("9e642fc8", "ae99"), 5));
            assertThat(misnamed.contract().orElseThrow().tasks()).containsExactly("ref2va");
            Recognized larryvrh = AdapterRecognizer.recognize(new AdapterSource(none, Map.of(), "x.safetensors", digest("5f3a626c", "16d3"), 5));
            assertThat(larryvrh.known().orElseThrow().alpha()).contains(Alpha.RANK);
            assertThat(larryvrh.contract()).as("it has no one schedule").isEmpty();
            assertThatExceptionOfType(BadWeightsException.class)
                    .isThrownBy(() -> AdapterRecognizer.recognize(new AdapterSource(none, Map.of(), TURBO, digest("00000000", "0000"), 1_383_677_808L)))
                    .withMessageContaining("expected c3d4a2cf...b689").withMessageContaining("damaged");
        }
    }

    private static String digest(String head, String tail) {
        return head + "0".repeat(64 - head.length() - tail.length()) + tail;
    }

    @Test
    void flashGenStatesItsContract() {
        Map<String, String> metadata = Map.of("key_format", "minimax-h3-native", "qkv_layout", "grouped", "lora_rank", "4", "lora_alpha", "4",
                "tasks", "t2va", "base_schedule", "1,0.7,0.4,0.15,0");
        AdapterFixture fixture = new AdapterFixture(CONFIG, 4, 1, true);
        Adapter adapter = read(write("flash.safetensors", fixture.original("transformer.", ".lora_A.default.weight", ".lora_B.default.weight", false,
                AdapterFixture.Fused.INTERLEAVED), metadata), NOT_STATED);
        assertThat(adapter.recognition()).isEqualTo(new Adapter.Recognition("FlashGen 4-step", "metadata"));
        assertThat(adapter.tensors()).as("5 per block, 4 per refiner block, 1 at the end").isEqualTo(2 * (5 * 3 + 4 * 2 + 1));
        assertThat(adapter.contract().orElseThrow()).isEqualTo(new SamplingContract("FlashGen 4-step", List.of("t2va"),
                List.of(1., .7, .4, .15, 0.), 12, 3));
        Map<String, Entry> cut = fixture.original("transformer.", ".lora_A.default.weight", ".lora_B.default.weight", false, AdapterFixture.Fused.INTERLEAVED);
        cut.keySet().removeIf(name -> name.contains("blocks.2.adaln_proj"));
        assertThat(refusal(write("cut.safetensors", cut, metadata))).contains("33 of 34 layers of FlashGen", "transformer_blocks.2.adaln_proj.linear");
    }

    @Test
    void fastH3CountsItsTensors() {
        Map<String, Entry> entries = new AdapterFixture(CONFIG, 4, 1, true).diffusers("", ".lora_A.weight", ".lora_B.weight", false);
        entries.put("proj_in.diff", new Entry(new float[48 * 32], 48, 32));
        entries.put("proj_in.diff_b", new Entry(new float[48], 48));
        entries.put("transformer_blocks.1.norm1.diff", new Entry(new float[48], 48));
        entries.put("proj_out.set_weight", new Entry(new float[32 * 48], 32, 48));
        Map<String, String> good = Map.of("format", "fastvideo-lora-v2", "finetuned_model", "FastVideo/FastH3-4-Step", "rank", "4",
                "low_rank_tensors", "" + (entries.size() - 4), "diff_tensors", "3", "set_weight_tensors", "1");
        Adapter adapter = read(write("fast.safetensors", entries, good), NOT_STATED);
        assertThat(adapter.fused()).isTrue();
        assertThat(adapter.edits()).hasSize(4);
        assertThat(adapter.pairs()).allSatisfy(p -> assertThat(p.factor()).isEqualTo(1));
        assertThat(adapter.contract().orElseThrow().schedule()).startsWith(.999);
        for (String counter : new String[] {"low_rank_tensors", "diff_tensors", "set_weight_tensors", "rank"}) {
            Map<String, String> wrong = new LinkedHashMap<>(good);
            wrong.put(counter, "5");
            assertThat(refusal(write("wrong.safetensors", entries, wrong))).contains("metadata " + counter + " is 5, the file has");
        }
        Map<String, Entry> sparse = new LinkedHashMap<>(entries);
        sparse.put("transformer_blocks.0.attn.to_gate_compress.set_weight", new Entry(new float[64 * 48], 64, 48));
        assertThat(refusal(write("vsa.safetensors", sparse, good))).contains("to_gate_compress.set_weight is a gate of sparse attention", "dense variant");
        Map<String, String> other = new LinkedHashMap<>(good);
        other.put("finetuned_model", "somebody/else");
        assertThat(refusal(write("other.safetensors", entries, other))).contains("finetuned_model is 'somebody/else'");
    }
}
