package io.kinema.engine.layout;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;

/** What holds for a layout of any size. */
class PackedLayoutProperties {
    private static final Patch PATCH = new Patch(1, 2, 2);

    @Property(tries = 200)
    void indicesPartTheRowsOfKeyframes(@ForAll("targets") Target target, @ForAll @IntRange(min = 0, max = 60) int text,
            @ForAll("anchors") List<Anchor> anchors) {
        int[] tags = textTags(text);
        requireSound(PackedLayout.ofKeyframes(tags, target, PATCH, anchors), tags, target);
    }

    @Property(tries = 200)
    void indicesPartTheRowsOfReferences(@ForAll("targets") Target target, @ForAll @IntRange(min = 0, max = 60) int text,
            @ForAll("references") List<ReferenceBlock> references) {
        int[] tags = textTags(text);
        PackedLayout layout = PackedLayout.ofReferences(tags, target, PATCH, references);
        requireSound(layout, tags, target);
        assertThat(layout.conditionVideoRows()).isEqualTo(references.stream().mapToInt(r -> r.videoRows(PATCH)).sum());
        assertThat(layout.conditionAudioRows()).isEqualTo(references.stream().mapToInt(ReferenceBlock::audioRows).sum());
    }

    private static void requireSound(PackedLayout layout, int[] textTags, Target target) {
        int[] all = IntStream.concat(IntStream.of(layout.textIndices()),
                IntStream.concat(IntStream.of(layout.videoIndices()), IntStream.of(layout.audioIndices()))).sorted().toArray();
        assertThat(all).containsExactly(IntStream.range(0, layout.rows()).toArray());
        int[] tags = layout.tags();
        assertThat(Arrays.copyOf(tags, textTags.length)).containsExactly(textTags);
        assertThat(IntStream.of(layout.videoIndices()).map(i -> tags[i])).containsOnly(0);
        assertThat(IntStream.of(layout.audioIndices()).map(i -> tags[i])).containsOnly(2);
        requireMonotone(layout, target);
    }

    private static void requireMonotone(PackedLayout layout, Target target) {
        double[] p = layout.positions();
        int[] video = generated(layout.videoIndices(), layout.conditionVideoRows());
        for (int i = 1; i < video.length; i++) {
            assertThat(p[3 * video[i]]).as("video time").isGreaterThanOrEqualTo(p[3 * video[i - 1]]);
        }
        int[] audio = generated(layout.audioIndices(), layout.conditionAudioRows());
        assertThat(audio).hasSize(2 * target.audioLatents());
        for (int i = 1; i < target.audioLatents(); i++) {
            assertThat(p[3 * audio[i]]).as("audio time").isEqualTo(p[3 * audio[0]] + i);
            assertThat(p[3 * audio[i + target.audioLatents()]]).as("both channels at once").isEqualTo(p[3 * audio[i]]);
        }
        assertThat(p[3 * video[0]]).as("one clock").isEqualTo(p[3 * audio[0]]);
        for (int r = 0; r < layout.textRows(); r++) {
            assertThat(p[3 * r]).isEqualTo(r);
        }
        assertThat(Arrays.stream(p).filter(v -> !Double.isFinite(v))).isEmpty();
    }

    private static int[] generated(int[] indices, int conditions) {
        return Arrays.copyOfRange(indices, conditions, indices.length);
    }

    private static int[] textTags(int n) {
        return IntStream.range(0, n).map(i -> i % 3 == 0 ? 0 : 1).toArray();
    }

    @Provide
    Arbitrary<Target> targets() {
        Arbitrary<Integer> side = Arbitraries.integers().between(1, 9).map(n -> 2 * n);
        return Combinators.combine(Arbitraries.integers().between(1, 40), side, side, Arbitraries.integers().between(1, 90)).as(Target::new);
    }

    @Provide
    Arbitrary<List<Anchor>> anchors() {
        return Arbitraries.of(List.of(), List.of(Anchor.FIRST), List.of(Anchor.LAST), List.of(Anchor.FIRST, Anchor.LAST));
    }

    @Provide
    Arbitrary<List<ReferenceBlock>> references() {
        Arbitrary<Integer> side = Arbitraries.integers().between(1, 6).map(n -> 2 * n);
        Arbitrary<Integer> count = Arbitraries.integers().between(0, 40);
        Arbitrary<ReferenceBlock> image = Combinators.combine(side, side).as(ReferenceBlock.Image::new);
        Arbitrary<ReferenceBlock> video = Combinators.combine(count, side, side, count)
                .as((t, h, w, a) -> new ReferenceBlock.Video(t + 1, h, w, a));
        Arbitrary<ReferenceBlock> audio = count.map(a -> new ReferenceBlock.Audio(a + 1));
        return Arbitraries.oneOf(image, video, audio).list().ofMaxSize(6);
    }
}
