package io.kinema.engine.schedule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import io.kinema.engine.golden.GoldenCase;
import io.kinema.engine.layout.GoldenLayouts;
import io.kinema.engine.layout.PackedLayout;
import io.kinema.engine.layout.Patch;
import io.kinema.engine.layout.ReferenceBlock;
import io.kinema.engine.layout.Target;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.security.MessageDigest;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RowTimestepsTest {
    @ParameterizedTest
    @ValueSource(strings = {"layout/t2va_fl2va", "layout/ref2va"})
    void plansAreTheReferences(String name) throws Exception {
        try (GoldenCase golden = GoldenCase.open(name)) {
            int compared = 0;
            for (JsonNode check : golden.checks("layout")) {
                JsonNode steps = golden.json().path("params").path(check.path("name").asText()).path("row_timestep_plan");
                PackedLayout layout = GoldenLayouts.build(check.path("args"));
                Map<Integer, List<RowTimesteps>> plans = new HashMap<>();
                for (JsonNode step : steps) {
                    RowTimesteps plan = plans.computeIfAbsent(step.path("points").asInt(), points -> plan(layout, points))
                            .get(step.path("step").asInt());
                    requireSame(plan, step, check.path("name").asText());
                    compared++;
                }
            }
            assertThat(compared).isGreaterThan(10);
        }
    }

    @Test
    void oddSizesFollowTheReferenceToo() throws Exception {
        for (JsonNode check : GoldenLayouts.oddSizes()) {
            JsonNode step = check.path("plan");
            int points = step.path("points").asInt();
            RowTimesteps plan = RowTimesteps.plan(GoldenLayouts.build(check.path("args")),
                    SigmaGrid.ofPoints(points, step.path("video_shift").asDouble()),
                    SigmaGrid.ofPoints(points, step.path("audio_shift").asDouble())).get(step.path("step").asInt());
            requireSame(plan, step, check.path("name").asText());
        }
    }

    private static void requireSame(RowTimesteps plan, JsonNode step, String name) throws Exception {
        float[] distinct = plan.distinct();
        assertThat(distinct).as(name).hasSize(step.path("distinct").size());
        for (int i = 0; i < distinct.length; i++) {
            assertThat((double) distinct[i]).as(name).isEqualTo(Double.parseDouble(step.path("distinct").get(i).asText()));
        }
        assertThat(sha256(plan.indices())).as("%s step %s", name, step.path("step")).isEqualTo(step.path("index_sha256").asText());
    }

    @Test
    void conditionsAreHeldAndSoundReferencesAreClean() {
        PackedLayout layout = PackedLayout.ofReferences(new int[] {1, 0}, new Target(2, 2, 2, 3), new Patch(1, 2, 2),
                List.of(new ReferenceBlock.Audio(1), new ReferenceBlock.Image(2, 2)));
        RowTimesteps step = RowTimesteps.of(layout, 0.25f, 0.5f);
        assertThat(step.distinct()).containsExactly(0.25f, 0.5f, 0.999f, 1f);
        assertThat(step.indices()).containsExactly(0, 0, 3, 3, 2, 1, 1, 1, 1, 1, 1, 0, 0);
    }

    @Test
    void videoAboveTheHeldLevelTakesConditionsAlong() {
        PackedLayout layout = PackedLayout.ofReferences(new int[] {1}, new Target(1, 2, 2, 1), new Patch(1, 2, 2),
                List.of(new ReferenceBlock.Image(2, 2)));
        assertThat(RowTimesteps.of(layout, 0.9995f, 0.9995f).distinct()).containsExactly(0.9995f);
    }

    @Test
    void schedulesOfDifferentLengthAreRefused() {
        PackedLayout layout = PackedLayout.ofKeyframes(new int[] {1}, new Target(1, 2, 2, 1), new Patch(1, 2, 2), List.of());
        assertThatThrownBy(() -> RowTimesteps.plan(layout, SigmaGrid.ofEvaluations(4, 12), SigmaGrid.ofEvaluations(5, 3)))
                .hasMessageContaining("4 video and 5 audio");
    }

    private static List<RowTimesteps> plan(PackedLayout layout, int points) {
        return RowTimesteps.plan(layout, SigmaGrid.ofPoints(points, SigmaGrid.VIDEO_SHIFT), SigmaGrid.ofPoints(points, SigmaGrid.AUDIO_SHIFT));
    }

    private static String sha256(int[] values) throws Exception {
        ByteBuffer bytes = ByteBuffer.allocate(values.length * Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        for (int v : values) {
            bytes.putLong(v);
        }
        return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes.array()));
    }
}
