package io.kinema.quality.compare;

import static org.assertj.core.api.Assertions.assertThat;

import io.kinema.quality.QualityGates;
import io.kinema.quality.Verdict;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The detectors cry no wolf at clips of the released model, as published: film pictures with letterbox, steam and people, speech and
 * clinking bowls. The clips are in the folder that KINEMA_MEDIA names, or in shared/media beside the repository.
 */
@Tag("long")
class RealClipsTest {
    private static final ComparisonOptions BITWISE = new ComparisonOptions(QualityGates.published(), false, false, true, false);

    @ParameterizedTest
    @ValueSource(strings = {"h3-sample-124f.mp4", "h3-sample-8s.mp4"})
    void aPublishedClipHasNoSeamFlashRepeatClippingOrClickAndEqualsItself(String name) {
        Path clip = Optional.ofNullable(System.getenv("KINEMA_MEDIA")).map(Path::of)
                .orElse(Path.of(System.getProperty("kinema.root"), "..", "shared", "media")).resolve(name);
        Assumptions.assumeTrue(Files.exists(clip), () -> "no clip " + clip + "; set KINEMA_MEDIA");
        Comparison comparison = Comparer.compare(clip, clip, BITWISE);
        Faults.Pictures pictures = comparison.pictures().orElseThrow().candidate();
        assertThat(pictures.seams()).isEmpty();
        assertThat(pictures.seamScore()).isLessThan(0.5);
        assertThat(pictures.flashes()).isEmpty();
        assertThat(pictures.repeats()).isEmpty();
        Faults.Sound sound = comparison.sound().orElseThrow().candidate();
        assertThat(sound.clicks()).isEmpty();
        assertThat(sound.levels().fullScale()).isZero();
        assertThat(comparison.verdict()).matches(Verdict::passed);
        assertThat(comparison.sync().orElseThrow().points()).hasSize(comparison.sound().orElseThrow().referenceSound().seconds() > 6 ? 3 : 1)
                .allSatisfy(point -> assertThat(Math.abs(point.drift().orElse(1))).isLessThan(0.01));
        assertThat(comparison.warnings()).isEqualTo(List.of());
    }
}
