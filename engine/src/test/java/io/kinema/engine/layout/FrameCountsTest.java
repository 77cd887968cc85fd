package io.kinema.engine.layout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import io.kinema.engine.golden.GoldenCase;
import java.util.List;
import org.junit.jupiter.api.Test;

class FrameCountsTest {
    private static final FrameCounts H3 = FrameCounts.RELEASED;

    @Test
    void countsFollowTheReferencesTable() {
        try (GoldenCase golden = GoldenCase.open("layout/tables")) {
            List<JsonNode> checks = golden.checks("frame_counts");
            assertThat(checks).isNotEmpty();
            for (JsonNode check : checks) {
                int frames = check.at("/args/num_frames").asInt();
                int aligned = H3.align(frames);
                assertThat(aligned).as("%d frames", frames).isEqualTo(check.at("/value/aligned").asInt());
                assertThat(H3.videoLatents(aligned)).isEqualTo(check.at("/value/video_latents").asInt());
                assertThat(FrameCounts.audioLatents(aligned)).isEqualTo(check.at("/value/audio_latents").asInt());
                assertThat(FrameCounts.audioLatents(frames)).isEqualTo(check.at("/value/audio_latents_unaligned").asInt());
            }
        }
    }

    @Test
    void countsOffTheGridAreRefusedWithTheNext() {
        assertThatThrownBy(() -> H3.videoLatents(120)).hasMessageContaining("got 120").hasMessageContaining("the next is 124");
        assertThatThrownBy(() -> H3.align(0)).hasMessageContaining("got 0");
        assertThatThrownBy(() -> H3.align(-1)).hasMessageContaining("got -1");
        assertThatThrownBy(() -> H3.align(Integer.MAX_VALUE)).hasMessageContaining("at most");
    }
}
