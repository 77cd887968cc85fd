package io.kinema.engine.noise;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import io.kinema.engine.golden.GoldenCase;
import java.util.List;
import java.util.stream.IntStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;

class TorchRandomTest {
    @Test
    void drawsWhatPyTorchDraws() {
        try (GoldenCase golden = GoldenCase.open("rng/streams")) {
            for (JsonNode check : golden.checks("randn")) {
                JsonNode args = check.path("args");
                TorchRandom random = new TorchRandom(args.path("seed").asLong());
                requireClose(golden, check.path("out"), random, size(args), args.path("dtype").asText());
            }
        }
    }

    @Test
    void uniformsAndIntegersAreExact() {
        try (GoldenCase golden = GoldenCase.open("rng/streams")) {
            for (JsonNode check : golden.checks("rand")) {
                JsonNode args = check.path("args");
                TorchRandom random = new TorchRandom(args.path("seed").asLong());
                String at = check.at("/out/at").asText();
                if (args.path("dtype").asText().equals("float32")) {
                    assertThat(random.rand(size(args))).as(at).containsExactly(golden.floats(at));
                } else {
                    assertThat(random.randDouble(size(args))).as(at).containsExactly(golden.doubles(at));
                }
            }
            for (JsonNode check : golden.checks("random64_modulo")) {
                JsonNode args = check.path("args");
                String at = check.at("/out/at").asText();
                assertThat(new TorchRandom(args.path("seed").asLong()).random64(size(args), args.path("modulo").asLong()))
                        .as(at).containsExactly(golden.longs(at));
            }
        }
    }

    @Test
    void consecutiveDrawsShareOneStream() {
        try (GoldenCase golden = GoldenCase.open("rng/streams")) {
            List<JsonNode> sequences = golden.checks("randn_sequence");
            assertThat(sequences).isNotEmpty();
            for (JsonNode check : sequences) {
                TorchRandom random = new TorchRandom(check.at("/args/seed").asLong());
                JsonNode draws = check.at("/args/draws");
                for (int i = 0; i < draws.size(); i++) {
                    requireClose(golden, check.path("out").get(i), random, size(draws.get(i)), draws.get(i).path("dtype").asText());
                }
            }
        }
    }

    @Test
    void seed42StartsWithTheKnownValues() {
        float[] drawn = new TorchRandom(42).randn(16);
        float[] known = {1.9269f, 1.4873f, 0.9007f, -2.1055f, 0.6784f, -1.2345f, -0.0431f, -1.6047f, -0.7521f, 1.6487f, -0.3925f,
            -1.4036f, -0.7279f, -0.5594f, -0.7688f, 0.7624f};
        for (int i = 0; i < known.length; i++) {
            assertThat(drawn[i]).as("value %d", i).isCloseTo(known[i], Offset.offset(5e-5f));
        }
    }

    @Property(tries = 50)
    void onlyTheLow32BitsOfASeedCount(@ForAll long seed, @ForAll @IntRange(min = 1, max = 40) int n) {
        assertThat(new TorchRandom(seed).randn(n)).containsExactly(new TorchRandom(seed & 0xffffffffL).randn(n));
    }

    @Property(tries = 50)
    void everyDrawIsFinite(@ForAll long seed, @ForAll @IntRange(min = 0, max = 3000) int n) {
        for (float v : new TorchRandom(seed).randn(n)) {
            assertThat(v).isFinite().isBetween(-8.5f, 8.5f);
        }
        for (double v : new TorchRandom(seed).randnDouble(n)) {
            assertThat(v).isFinite().isBetween(-13.0, 13.0);
        }
    }

    @Test
    void smallModuloIsRefused() {
        assertThatThrownBy(() -> new TorchRandom(0).random64(1, 1000)).isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("got 1000");
    }

    private static int size(JsonNode args) {
        return IntStream.range(0, args.path("shape").size()).map(i -> args.path("shape").get(i).asInt()).reduce(1, (a, b) -> a * b);
    }

    private static void requireClose(GoldenCase golden, JsonNode out, TorchRandom random, int n, String dtype) {
        String at = out.path("at").asText();
        double limit = out.path("metric").asText().equals("exact") ? 0 : out.path("limit").asDouble();
        double worst = 0;
        if (dtype.equals("float32")) {
            float[] expected = golden.floats(at);
            float[] got = random.randn(n);
            assertThat(got).hasSameSizeAs(expected);
            for (int i = 0; i < n; i++) {
                worst = Math.max(worst, Math.abs((double) got[i] - expected[i]));
            }
        } else {
            double[] expected = golden.doubles(at);
            double[] got = random.randnDouble(n);
            assertThat(got).hasSameSizeAs(expected);
            for (int i = 0; i < n; i++) {
                worst = Math.max(worst, Math.abs(got[i] - expected[i]));
            }
        }
        assertThat(worst).as(at).isLessThanOrEqualTo(limit);
    }
}
