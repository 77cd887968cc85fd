package io.kinema.engine;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** One seed, one clip: whatever the thread count, and whichever request came before. */
class DeterminismTest {
    private static final GenerateRequest REQUEST = GenerateRequest.prompt("A green square grows on a white background, with a buzz.")
            .size(160, 96).frames(22).steps(2).seed(3).build();

    @Test
    void threadCountsDoNotChangeABit() {
        Clip one = withThreads(1);
        for (int threads : new int[] {2, 5}) {
            Clip many = withThreads(threads);
            assertThat(many.latents().video()).isEqualTo(one.latents().video());
            assertThat(many.latents().audio()).isEqualTo(one.latents().audio());
            assertThat(many.left()).isEqualTo(one.left());
            assertThat(many.right()).isEqualTo(one.right());
            for (int i = 0; i < one.frameCount(); i++) {
                assertThat(many.frame(i)).isEqualTo(one.frame(i));
            }
        }
    }

    @Test
    void anEngineKeepsNothingOfTheRequestBefore() {
        try (H3Engine engine = H3Engine.open(EngineOptions.builder().model(Geometries.NANO).build())) {
            Clip fresh = engine.generate(REQUEST);
            engine.generate(GenerateRequest.prompt("Something else entirely, longer than the first.").size(96, 160).frames(39).steps(1).seed(9).build());
            Clip again = engine.generate(REQUEST);
            assertThat(again.latents().video()).isEqualTo(fresh.latents().video());
            assertThat(again.left()).isEqualTo(fresh.left());
        }
    }

    private static Clip withThreads(int threads) {
        try (H3Engine engine = H3Engine.open(EngineOptions.builder().model(Geometries.NANO).threads(threads).build())) {
            return engine.generate(REQUEST);
        }
    }
}
