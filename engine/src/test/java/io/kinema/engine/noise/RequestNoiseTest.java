package io.kinema.engine.noise;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.kinema.engine.NoiseScheme;
import io.kinema.engine.golden.GoldenCase;
import io.kinema.engine.layout.LatentShape;
import java.util.ArrayList;
import java.util.List;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;

class RequestNoiseTest {
    private static final LatentShape VIDEO = new LatentShape(4, 7, 2, 6);
    private static final LatentShape KEYFRAME = new LatentShape(4, 1, 2, 6);

    @Test
    void wholeRequestsDrawAsTheReferenceDoes() {
        try (GoldenCase golden = GoldenCase.open("rng/request_order")) {
            List<JsonNode> requests = golden.checks("randn_sequence");
            assertThat(requests).isNotEmpty();
            for (JsonNode check : requests) {
                JsonNode draws = check.at("/args/draws");
                List<LatentShape> shapes = new ArrayList<>();
                for (int i = 0; i < draws.size() - 1; i++) {
                    JsonNode s = draws.get(i).path("shape");
                    shapes.add(new LatentShape(s.get(1).asInt(), s.get(2).asInt(), s.get(3).asInt(), s.get(4).asInt()));
                }
                JsonNode audio = draws.get(draws.size() - 1).path("shape");
                RequestNoise noise = RequestNoise.draw(check.at("/args/seed").asLong(), NoiseScheme.DIFFUSERS,
                        shapes.subList(0, shapes.size() - 1), shapes.getLast(), audio.get(0).asInt(), audio.get(1).asInt());
                List<float[]> got = new ArrayList<>(noise.conditions());
                got.add(noise.video());
                got.add(noise.audio());
                for (int i = 0; i < got.size(); i++) {
                    String at = check.path("out").get(i).path("at").asText();
                    assertThat(got.get(i)).as(at).containsExactly(golden.floats(at),
                            Offset.offset((float) check.path("out").get(i).path("limit").asDouble()));
                }
            }
        }
    }

    @Test
    void bothSchemesShareTheVideoNoiseOfATextRequest() {
        RequestNoise one = RequestNoise.draw(7, NoiseScheme.DIFFUSERS, List.of(), VIDEO, 74, 4);
        RequestNoise fresh = RequestNoise.draw(7, NoiseScheme.ONECAT, List.of(), VIDEO, 74, 4);
        assertThat(fresh.video()).containsExactly(one.video());
        assertThat(fresh.audio()).isNotEqualTo(one.audio());
        assertThat(fresh.audio()).containsExactly(new TorchRandom(7).randn(74 * 4));
    }

    @Test
    void onecatConditionsTakeTheFirstFramesOfALongerDraw() {
        RequestNoise noise = RequestNoise.draw(7, NoiseScheme.ONECAT, List.of(KEYFRAME, KEYFRAME), VIDEO, 74, 4);
        LatentShape longer = KEYFRAME.withFrames(9);
        float[] whole = new TorchRandom(7).randn(longer.elements());
        float[] expected = new float[KEYFRAME.elements()];
        for (int c = 0; c < 4; c++) {
            System.arraycopy(whole, c * 9 * 12, expected, c * 12, 12);
        }
        assertThat(noise.conditions()).hasSize(2);
        assertThat(noise.conditions().get(0)).containsExactly(expected);
        assertThat(noise.conditions().get(1)).containsExactly(expected);
    }

    @Test
    void posteriorNoiseDoesNotDependOnTheRequest() {
        assertThat(RequestNoise.posterior(KEYFRAME)).containsExactly(new TorchRandom(42).randn(48));
    }
}
