package io.kinema.engine.verify;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.MissingNode;
import io.kinema.engine.BadRequestException;
import io.kinema.weights.Shape;
import java.io.IOException;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SelectionTest {
    @Test
    void keepsFramesRowsAndColumnsOfAPlanarVideo() throws IOException {
        Values video = count(1, 2, 3, 4, 6);
        Values kept = read("{\"frames\":[2,-3],\"row_column_step\":3}").of(video);
        assertThat(kept.shape()).isEqualTo(Shape.of(1, 2, 2, 2, 2));
        // channel 0, frame 2, rows 0 and 3, columns 0 and 3; then frame -3 = 0
        assertThat(IntStream.range(0, 8).mapToObj(i -> (int) kept.at(i))).containsExactly(48, 51, 66, 69, 0, 3, 18, 21);
    }

    @Test
    void keepsFramesOfAnInterleavedVideo() throws IOException {
        Values kept = read("{\"frames\":[1]}").of(count(3, 2, 2, 3));
        assertThat(kept.shape()).isEqualTo(Shape.of(1, 2, 2, 3));
        assertThat(kept.at(0)).isEqualTo(12);
    }

    @Test
    void keepsSamples() throws IOException {
        Values kept = read("{\"samples\":[2,4]}").of(count(1, 2, 5));
        assertThat(IntStream.range(0, 4).mapToObj(i -> (int) kept.at(i))).containsExactly(2, 3, 7, 8);
    }

    @Test
    void keepsEverythingWhenNothingIsSaid() {
        Values all = count(2, 2);
        assertThat(Selection.read(MissingNode.getInstance(), "x").of(all)).isSameAs(all);
    }

    @ParameterizedTest
    @ValueSource(strings = {"{\"frame\":[1]}", "{\"row_column_step\":0}", "{\"samples\":[3]}", "{\"samples\":[3,1]}"})
    void refusesWhatTheFormatDoesNotHave(String json) {
        assertThatThrownBy(() -> read(json)).isInstanceOf(BadRequestException.class).hasMessageContaining("here select");
    }

    private static Selection read(String json) throws IOException {
        JsonNode node = new ObjectMapper().readTree(json);
        return Selection.read(node, "here");
    }

    private static Values count(long... dims) {
        int n = Math.toIntExact(Shape.of(dims).elements());
        return Values.ints(IntStream.range(0, n).toArray(), dims);
    }
}
