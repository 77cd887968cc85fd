package io.kinema.engine.layout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import io.kinema.engine.golden.GoldenCase;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.junit.jupiter.api.Test;

class PackedLayoutTest {
    private static final Patch PATCH = new Patch(1, 2, 2);

    @ParameterizedTest
    @ValueSource(strings = {"layout/t2va_fl2va", "layout/ref2va"})
    void layoutsHaveTheReferencesBits(String name) {
        try (GoldenCase golden = GoldenCase.open(name)) {
            List<JsonNode> checks = golden.checks("layout");
            assertThat(checks).isNotEmpty();
            for (JsonNode check : checks) {
                PackedLayout layout = GoldenLayouts.build(check.path("args"));
                requireSame(golden, check, layout);
            }
        }
    }

    @Test
    void oddSizesHaveTheReferencesBits() throws IOException {
        for (JsonNode check : GoldenLayouts.oddSizes()) {
            requireHashes(check, GoldenLayouts.build(check.path("args")));
        }
    }

    private static void requireSame(GoldenCase golden, JsonNode check, PackedLayout layout) {
        requireHashes(check, layout);
        String name = check.path("name").asText();
        if (check.has("out")) {
            assertThat(layout.positions()).as(name).containsExactly(golden.doubles(check.at("/out/position_ids/at").asText()));
            integers(layout).forEach((key, got) -> assertThat(longs(got)).as(name + " " + key)
                    .containsExactly(golden.longs(check.path("out").path(key).path("at").asText())));
        }
        requireSampledRows(golden.json().path("params").path(name).path("sampled_rows"), layout, name);
    }

    private static Map<String, int[]> integers(PackedLayout layout) {
        return Map.of("token_tags", layout.tags(), "video_indices", layout.videoIndices(),
                "audio_indices", layout.audioIndices(), "text_indices", layout.textIndices());
    }

    private static void requireHashes(JsonNode check, PackedLayout layout) {
        String name = check.path("name").asText();
        JsonNode value = check.path("value");
        assertThat(layout.rows()).as(name).isEqualTo(value.path("rows").asInt());
        assertThat(layout.conditionVideoRows()).as(name).isEqualTo(value.path("num_condition_video_rows").asInt());
        assertThat(layout.conditionAudioRows()).as(name).isEqualTo(value.path("num_condition_audio_rows").asInt());
        integers(layout).forEach((key, got) -> assertThat(sha256(got)).as(name + " " + key).isEqualTo(value.path("sha256").path(key).asText()));
        assertThat(sha256(layout.positions())).as(name + " position_ids").isEqualTo(value.path("sha256").path("position_ids").asText());
    }

    private static void requireSampledRows(JsonNode rows, PackedLayout layout, String name) {
        double[] positions = layout.positions();
        int[] tags = layout.tags();
        for (JsonNode row : rows) {
            int r = row.get(0).asInt();
            assertThat(tags[r]).as("%s row %d", name, r).isEqualTo(row.get(1).asInt());
            for (int axis = 0; axis < 3; axis++) {
                assertThat(positions[3 * r + axis]).as("%s row %d axis %d", name, r, axis)
                        .isEqualTo(Double.parseDouble(row.get(2).get(axis).asText()));
            }
        }
    }

    @Test
    void theLastKeyframeDoesNotShareTheClockOfTheFirst() {
        int[] text = {1, 1, 1};
        PackedLayout both = PackedLayout.ofKeyframes(text, new Target(12, 4, 4, 65), PATCH, List.of(Anchor.FIRST, Anchor.LAST));
        double[] p = both.positions();
        assertThat(p[3 * 3]).isEqualTo(3.0);
        assertThat(p[3 * 7]).isEqualTo(3.0 + 65 - 5.0 / 3.0);
        assertThat(both.conditionVideoRows()).isEqualTo(8);
        assertThat(both.toString()).contains("3 text, 8 + 48 video, 0 + 130 audio");
    }

    @Test
    void sizesThatThePatchDoesNotDivideAreRefused() {
        assertThatThrownBy(() -> PackedLayout.ofKeyframes(new int[1], new Target(2, 3, 4, 8), PATCH, List.of()))
                .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("3 x 4");
        assertThatThrownBy(() -> PackedLayout.ofReferences(new int[1], new Target(2, 4, 4, 8), PATCH,
                List.of(new ReferenceBlock.Image(5, 2)))).hasMessageContaining("5 x 2");
        assertThatThrownBy(() -> PackedLayout.ofKeyframes(new int[1], new Target(2, 4, 4, 8), new Patch(2, 2, 2), List.of()))
                .hasMessageContaining("H3 packs 1");
    }

    @Test
    void pairwiseSumIsNumPysAboveOneBlock() {
        double[] x = IntStream.range(0, 300).mapToDouble(i -> 0.1).toArray();
        // numpy.full(300, 0.1).sum() and the plain running sum differ; both values were printed by NumPy 2 and Python.
        assertThat(RotaryGrid.pairwiseSum(x, 0, 300)).isEqualTo(29.999999999999996);
        assertThat(Arrays.stream(x).reduce(0, Double::sum)).isEqualTo(30.000000000000156);
    }

    private static long[] longs(int[] values) {
        return Arrays.stream(values).asLongStream().toArray();
    }

    private static String sha256(int[] values) {
        ByteBuffer bytes = ByteBuffer.allocate(values.length * Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        Arrays.stream(values).forEach(v -> bytes.putLong(v));
        return sha256(bytes);
    }

    private static String sha256(double[] values) {
        ByteBuffer bytes = ByteBuffer.allocate(values.length * Double.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        bytes.asDoubleBuffer().put(values);
        return sha256(bytes.rewind());
    }

    private static String sha256(ByteBuffer bytes) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes.array()));
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError(e);
        }
    }
}
