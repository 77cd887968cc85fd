package io.kinema.model.video;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import io.kinema.model.GoldenCase;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class TileAxisTest {
    private static final int LATENT = 16;

    static Stream<Path> cases() throws IOException {
        try (Stream<Path> folders = Files.list(GoldenCase.full().orElse(GoldenCase.bundled()).resolve("video_vae"))) {
            return folders.sorted().toList().stream();
        }
    }

    @ParameterizedTest
    @MethodSource("cases")
    void laysTilesAsTheReferenceDoes(Path folder) {
        JsonNode params = GoldenCase.json(folder.resolve("case.json")).get("params");
        int scale = params.has("latent_height") ? LATENT : 1;
        String prefix = params.has("latent_height") ? "latent_" : "";
        for (String side : List.of("height", "width")) {
            TileAxis axis = TileAxis.cover(params.get(prefix + side).asInt() * scale, params.get("tile_min_" + side).asInt(),
                    params.get("tile_min_overlap_" + side).asInt(), LATENT);
            JsonNode split = params.get("split_" + side);
            assertThat(axis.starts()).isEqualTo(ints(split.get(0)));
            assertThat(IntStream.range(0, axis.count()).map(i -> axis.length()).boxed().toList()).isEqualTo(ints(split.get(1)));
            assertThat(axis.overlaps()).isEqualTo(ints(split.get(2)));
        }
    }

    private static List<Integer> ints(JsonNode list) {
        return StreamSupport.stream(list.spliterator(), false).map(JsonNode::asInt).toList();
    }

    @Property
    void tilesCoverTheExtentExactlyWithEnoughOverlap(@ForAll @IntRange(min = 1, max = 400) int extent, @ForAll @IntRange(min = 2, max = 40) int tile,
                                                     @ForAll @IntRange(min = 1, max = 39) int wish) {
        int overlap = 1 + wish % (tile - 1);
        TileAxis axis = TileAxis.cover(extent * LATENT, tile * LATENT, overlap * LATENT, LATENT);
        assertThat(axis.starts().getLast() + axis.length()).isEqualTo(extent * LATENT);
        for (int i = 1; i < axis.count(); i++) {
            int shared = axis.starts().get(i - 1) + axis.length() - axis.starts().get(i);
            assertThat(shared).isEqualTo(axis.overlapBefore(i)).isEqualTo(axis.overlapAfter(i - 1)).isBetween(overlap * LATENT, axis.length() - LATENT);
        }
        int fewer = axis.count() - 1;
        assertThat(fewer == 0 || fewer * tile - (fewer - 1) * overlap < extent).as("one tile fewer could not cover it").isTrue();
    }

    @Test
    void refusesSizesThatWouldNotStartOnLatents() {
        assertThatThrownBy(() -> TileAxis.cover(300, 256, 64, LATENT)).isInstanceOf(IllegalArgumentException.class).hasMessageContaining("multiples of 16");
        assertThatThrownBy(() -> new Tiling(256, 256, 256, 64)).isInstanceOf(IllegalArgumentException.class).hasMessageContaining("1 <= overlap < tile");
        assertThatThrownBy(() -> new Tiling(256, 256, 64, 0)).isInstanceOf(IllegalArgumentException.class);
    }
}
