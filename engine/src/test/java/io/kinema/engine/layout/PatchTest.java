package io.kinema.engine.layout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import io.kinema.compute.Tensor;
import io.kinema.engine.golden.GoldenCase;
import io.kinema.engine.noise.TorchRandom;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

class PatchTest {
    @Test
    void patchifiesAsTheReferenceDoes() {
        try (GoldenCase golden = GoldenCase.open("layout/tables")) {
            for (JsonNode check : golden.checks("patchify")) {
                JsonNode p = check.at("/args/patch");
                Patch patch = new Patch(p.get(0).asInt(), p.get(1).asInt(), p.get(2).asInt());
                String in = check.at("/in/latents").asText();
                long[] s = golden.shape(in);
                LatentShape shape = new LatentShape((int) s[1], (int) s[2], (int) s[3], (int) s[4]);
                assertThat(patch.patchify(golden.floats(in), shape)).containsExactly(golden.floats(check.at("/out/at").asText()));
            }
        }
    }

    @Property(tries = 100)
    void rowsComeBackAsTheLatentTheyWere(@ForAll @IntRange(min = 1, max = 5) int channels, @ForAll @IntRange(min = 1, max = 4) int t,
            @ForAll @IntRange(min = 1, max = 4) int h, @ForAll @IntRange(min = 1, max = 4) int w, @ForAll @IntRange(min = 1, max = 2) int pt,
            @ForAll @IntRange(min = 1, max = 3) int ph, @ForAll @IntRange(min = 1, max = 3) int pw) {
        Patch patch = new Patch(pt, ph, pw);
        LatentShape shape = new LatentShape(channels, t * pt, h * ph, w * pw);
        float[] latents = new TorchRandom(1).randn(shape.elements());
        float[] rows = patch.patchify(latents, shape);
        assertThat(patch.unpatchify(rows, shape)).containsExactly(latents);
        assertThat(patch.rows(shape) * patch.rowWidth(channels)).isEqualTo(shape.elements());
        assertThat(patch.latentView(Tensor.ofFloats(rows, patch.rows(shape), patch.rowWidth(channels)), shape).toFloats())
                .containsExactly(latents);
    }

    @Test
    void latentsThatThePatchDoesNotDivideAreRefused() {
        assertThatThrownBy(() -> new Patch(1, 2, 2).patchify(new float[12], new LatentShape(1, 1, 3, 4)))
                .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("(1, 1, 3, 4)").hasMessageContaining("multiples");
        assertThatThrownBy(() -> new Patch(1, 2, 2).patchify(new float[3], new LatentShape(1, 1, 2, 2)))
                .hasMessageContaining("got 3 values, expected 4");
    }
}
