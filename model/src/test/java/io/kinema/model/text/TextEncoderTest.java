package io.kinema.model.text;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import io.kinema.compute.Backend;
import io.kinema.compute.Precision;
import io.kinema.compute.Tensor;
import io.kinema.compute.Workspace;
import io.kinema.model.GoldenCase;
import io.kinema.model.PoisonedMemory;
import io.kinema.model.TestBackends;
import io.kinema.model.load.Parameters.Rounding;
import io.kinema.weights.BadWeightsException;
import io.kinema.weights.Checkpoint;
import io.kinema.weights.StoredTensor;
import io.kinema.weights.TensorSource;
import java.util.Optional;
import java.util.SequencedSet;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class TextEncoderTest {
    private static final int LAYER = 4;

    private TextEncoderConfig config;
    private Checkpoint source;

    static Iterable<Supplier<Backend>> backends() {
        return TestBackends.all();
    }

    @BeforeEach
    void open() {
        var folder = GoldenCase.bundled().resolve("checkpoint/text_encoder");
        config = TextEncoderConfig.read(GoldenCase.json(folder.resolve("config.json")));
        source = Checkpoint.open(folder);
    }

    @AfterEach
    void close() {
        source.close();
    }

    private TextEncoder encoder(Backend backend, TensorSource from, int layer) {
        return TextEncoder.open(backend, from, config, layer, Precision.FP32, Rounding.AS_STORED);
    }

    private static float[] encode(Backend backend, TextEncoder encoder, TextEncoderInput input) {
        try (Workspace memory = backend.workspace("test")) {
            return encoder.encode(input, memory).toFloats();
        }
    }

    /** Notes which tensors are asked for. */
    private record Watched(TensorSource source, Set<String> asked) implements TensorSource {
        @Override
        public SequencedSet<String> names() {
            return source.names();
        }

        @Override
        public Optional<StoredTensor> find(String name) {
            asked.add(name);
            return source.find(name);
        }

        @Override
        public StoredTensor get(String name) {
            asked.add(name);
            return source.get(name);
        }

        @Override
        public String origin() {
            return source.origin();
        }

        @Override
        public void close() {
            source.close();
        }
    }

    @Test
    void neverTouchesWhatItDoesNotNeed() {
        Set<String> asked = new TreeSet<>();
        try (Backend backend = TestBackends.all().getFirst().get(); TextEncoder encoder = encoder(backend, new Watched(source, asked), LAYER)) {
            encode(backend, encoder, TextEncoderInput.of(new int[] {1, 2, 3}));
        }
        assertThat(asked).anyMatch(n -> n.startsWith("model.language_model.layers." + (LAYER - 1) + "."))
                .noneMatch(n -> n.startsWith("model.language_model.layers." + LAYER + "."))
                .noneMatch(n -> n.startsWith("lm_head") || n.equals("model.language_model.norm.weight"));
    }

    @Test
    void refusesALayerThatTheCheckpointLacks() {
        try (Backend backend = TestBackends.all().getFirst().get()) {
            assertThatThrownBy(() -> encoder(backend, source, 53)).isInstanceOf(BadWeightsException.class)
                    .hasMessageContaining("52 layers, expected at least 53");
        }
    }

    @ParameterizedTest
    @MethodSource("backends")
    void laterTokensDoNotChangeEarlierRows(Supplier<Backend> backends) {
        try (Backend backend = backends.get(); TextEncoder encoder = encoder(backend, source, LAYER)) {
            float[] whole = encode(backend, encoder, TextEncoderInput.of(new int[] {5, 6, 7, 8}));
            float[] changed = encode(backend, encoder, TextEncoderInput.of(new int[] {5, 6, 7, 99}));
            int hidden = config.text().hidden();
            assertThat(java.util.Arrays.copyOf(changed, 3 * hidden)).isEqualTo(java.util.Arrays.copyOf(whole, 3 * hidden));
            assertThat(changed).isNotEqualTo(whole);
        }
    }

    @ParameterizedTest
    @MethodSource("backends")
    void readsNothingThatWasNotWritten(Supplier<Backend> backends) {
        try (GoldenCase golden = GoldenCase.open(GoldenCase.bundled(), "text_encoder/ref_video"); Backend backend = backends.get();
             TextEncoder clean = encoder(backend, source, LAYER); TextEncoder poisoned = encoder(PoisonedMemory.of(backend), source, LAYER)) {
            JsonNode check = golden.check("fp32").orElseThrow();
            TextEncoderInput input = TextEncoderGoldenTest.input(golden, check);
            assertThat(encode(backend, poisoned, input)).isEqualTo(encode(backend, clean, input));
        }
    }

    @ParameterizedTest
    @MethodSource("backends")
    void refusesInputsThatDoNotFit(Supplier<Backend> backends) {
        int pad = config.imageToken();
        Tensor pixels = Tensor.ofFloats(new float[4 * config.vision().pixelsPerRow()], 4, config.vision().pixelsPerRow());
        Optional<VisionInput> one = Optional.of(new VisionInput(pixels, java.util.List.of(new PatchGrid(1, 2, 2))));
        try (Backend backend = backends.get(); TextEncoder encoder = encoder(backend, source, 1)) {
            assertThatThrownBy(() -> encode(backend, encoder, TextEncoderInput.of(new int[0]))).hasMessageContaining("got no tokens");
            assertThatThrownBy(() -> encode(backend, encoder, TextEncoderInput.of(new int[] {688}))).hasMessageContaining("got id 688, expected 0 to 687");
            assertThatThrownBy(() -> encode(backend, encoder, TextEncoderInput.of(new int[] {1}, one, Optional.empty()))).hasMessageContaining("without tokens");
            assertThatThrownBy(() -> encode(backend, encoder, TextEncoderInput.of(new int[] {pad, pad}, one, Optional.empty())))
                    .hasMessageContaining("a run of 2 vision tokens at token 0, expected 1");
            assertThatThrownBy(() -> encode(backend, encoder, TextEncoderInput.of(new int[] {pad, 1, pad}, one, Optional.empty()))).hasMessageContaining("every grid is used");
            assertThat(encode(backend, encoder, TextEncoderInput.of(new int[] {1, pad, 2}, one, Optional.empty()))).hasSize(3 * config.text().hidden());
        }
        assertThatThrownBy(() -> new VisionInput(pixels, java.util.List.of(new PatchGrid(1, 2, 4)))).hasMessageContaining("expected one row for each of 8 patches");
    }

    @Test
    void positionsOfMixedInput() {
        int image = config.imageToken();
        int video = config.videoToken();
        Optional<VisionInput> images = vision(new PatchGrid(1, 4, 6));
        Optional<VisionInput> videos = vision(new PatchGrid(2, 2, 4));
        RopePositions p = RopePositions.of(config, TextEncoderInput.of(
                new int[] {1, image, image, image, image, image, image, 2, video, video, 3, video, video, 4}, images, videos));
        Tensor t = p.toTensor();
        assertThat(row(t, 0)).containsExactly(0, 1, 1, 1, 1, 1, 1, 4, 5, 5, 7, 8, 8, 10);
        assertThat(row(t, 1)).containsExactly(0, 1, 1, 1, 2, 2, 2, 4, 5, 5, 7, 8, 8, 10);
        assertThat(row(t, 2)).containsExactly(0, 1, 2, 3, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10);
    }

    @Test
    void positionsOfTextCountUp() {
        RopePositions p = RopePositions.of(config, TextEncoderInput.of(new int[] {1, config.imageToken(), 2}));
        for (int axis = 0; axis < 3; axis++) {
            assertThat(row(p.toTensor(), axis)).containsExactly(0, 1, 2);
        }
    }

    private Optional<VisionInput> vision(PatchGrid grid) {
        return Optional.of(new VisionInput(Tensor.ofFloats(new float[grid.patches()], grid.patches(), 1), java.util.List.of(grid)));
    }

    private static int[] row(Tensor t, int axis) {
        int[] out = new int[t.size(1)];
        for (int i = 0; i < out.length; i++) {
            out[i] = (int) t.get(axis, i);
        }
        return out;
    }
}
