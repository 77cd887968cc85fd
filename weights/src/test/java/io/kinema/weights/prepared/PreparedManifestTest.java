package io.kinema.weights.prepared;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.kinema.weights.BadWeightsException;
import io.kinema.weights.DType;
import io.kinema.weights.Shape;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PreparedManifestTest {
    private static final String HASH = "0123456789abcdef".repeat(4);

    @Property(tries = 200)
    void whatIsWrittenIsRead(@ForAll @Size(max = 6) List<@IntRange(max = 700) Integer> rows, @ForAll @IntRange(max = 14) int dtype) {
        List<PreparedManifest.Tensor> tensors = new ArrayList<>();
        long at = 0;
        for (int i = 0; i < rows.size(); i++) {
            PreparedManifest.Tensor tensor = new PreparedManifest.Tensor("t" + i, DType.values()[dtype], Shape.of(rows.get(i), 3), at, HASH);
            tensors.add(tensor);
            at = PreparedManifest.aligned(at + tensor.size());
        }
        PreparedManifest manifest = new PreparedManifest("key", at, tensors);
        assertThat(PreparedManifest.parse(manifest.toBytes())).isEqualTo(manifest);
        long covered = 0;
        for (int i = 0; i < tensors.size(); i++) {
            covered += manifest.span(i);
        }
        assertThat(covered).isEqualTo(manifest.bytes());
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
            "\"format\":1 | \"format\":2 | format is 2",
            "\"format\":1, | '' | fields",
            "\"key\":\"k\" | \"key\":7 | key is 7",
            "\"bytes\":512 | \"bytes\":511 | expected 512",
            "\"bytes\":512 | \"bytes\":-1 | bytes is -1",
            "\"bytes\":512 | \"bytes\":1e99 | bytes is",
            "\"offset\":256 | \"offset\":0 | expected 256",
            "\"name\":\"b\" | \"name\":\"a\" | twice",
            "\"dtype\":\"F16\" | \"dtype\":\"F17\" | dtype of",
            "[4,3] | [4,-3] | negative",
            "[4,3] | [4611686018427387904,3] | 2^62",
            "[4,3] | [4611686018427387904] | past the end",
            "[4,3] | [4.5] | whole numbers",
            "[4,3] | 7 | shape of",
            "0123 | 012X | SHA-256",
            "{\"format\" | {\"key\":1,\"format\" | not JSON",
            "]} | ]}{} | not JSON"})
    void whatBreaksARuleIsRefused(String part, String instead, String complaint) {
        String good = new String(new PreparedManifest("k", 512, List.of(new PreparedManifest.Tensor("a", DType.F16, Shape.of(4, 3), 0, HASH),
                new PreparedManifest.Tensor("b", DType.F16, Shape.of(4, 3), 256, HASH))).toBytes(), StandardCharsets.UTF_8);
        assertThat(good).contains(part.strip());
        byte[] bad = good.replaceFirst(java.util.regex.Pattern.quote(part.strip()), java.util.regex.Matcher.quoteReplacement(instead.strip())).getBytes(StandardCharsets.UTF_8);
        assertThatExceptionOfType(BadWeightsException.class).isThrownBy(() -> PreparedManifest.parse(bad)).withMessageContaining(complaint.strip());
    }

    @Test
    void markersAreReadAsWritten() {
        ReadyMarker marker = new ReadyMarker(HASH, new FileStat(1, 2, 3, 4), 5);
        assertThat(ReadyMarker.parse(marker.toBytes())).isEqualTo(marker);
        assertThat(marker.knows(marker.weights())).as("compared in the tick in which it was written").isFalse();
        ReadyMarker later = new ReadyMarker(HASH, marker.weights(), 1_000_000_000L);
        assertThat(later.knows(marker.weights())).isTrue();
        assertThat(later.knows(new FileStat(1, 2, 3, 5))).isFalse();
    }
}
