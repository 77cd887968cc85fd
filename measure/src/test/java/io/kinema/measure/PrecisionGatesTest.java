package io.kinema.measure;

import static org.assertj.core.api.Assertions.assertThat;

import io.kinema.compute.MatrixLayout;
import io.kinema.compute.Precision;
import io.kinema.engine.Clip;
import io.kinema.engine.EngineOptions;
import io.kinema.engine.GenerateRequest;
import io.kinema.engine.H3Engine;
import io.kinema.media.audio.Sound;
import io.kinema.media.image.RgbImage;
import io.kinema.quality.Gate;
import io.kinema.quality.QualityGates;
import io.kinema.quality.Verdict;
import io.kinema.quality.picture.FrameComparison;
import io.kinema.quality.sound.RmsRatio;
import io.kinema.quality.sound.SpectralCosine;
import io.kinema.quality.tensor.RelativeL2;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The bundled model in the plan of SM70, in both storage orders, passes the published gates against fp32. */
class PrecisionGatesTest {
    private static final Path MODEL = Path.of(System.getProperty("kinema.root"), "models", "h3-nano");

    private static Clip reference;

    @BeforeAll
    static void makeReference() {
        reference = make(EngineOptions.builder().precision(Precision.FP32));
    }

    private static Clip make(EngineOptions.Builder options) {
        try (H3Engine engine = H3Engine.open(options.model(MODEL).threads(2).build())) {
            return engine.generate(GenerateRequest.prompt("A red circle bounces.").size(128, 128).frames(22).steps(3).seed(7).build());
        }
    }

    @Test
    void fp16Rows() {
        passes(make(EngineOptions.builder().precision(Precision.FP16_FP32RES)));
    }

    @Test
    void fp16Columns() {
        passes(make(EngineOptions.builder().precision(Precision.FP16_FP32RES).fp16WeightLayout(MatrixLayout.COLUMN)));
    }

    private static void passes(Clip clip) {
        Verdict verdict = QualityGates.published().judge(measure(clip));
        assertThat(verdict.complete()).isTrue();
        assertThat(verdict.lines()).allSatisfy(line -> assertThat(line.pass()).as(line.text()).isTrue());
        assertThat(measure(clip).get(Gate.VIDEO_LATENTS)).as("it did round").isPositive();
    }

    private static Map<Gate, Double> measure(Clip clip) {
        FrameComparison pictures = new FrameComparison();
        for (int i = 0; i < reference.frameCount(); i++) {
            pictures.add(picture(clip, i), picture(reference, i));
        }
        Map<Gate, Double> measured = new EnumMap<>(Gate.class);
        measured.put(Gate.VIDEO_LATENTS, RelativeL2.of(clip.latents().video(), reference.latents().video()));
        measured.put(Gate.AUDIO_LATENTS, RelativeL2.of(clip.latents().audio(), reference.latents().audio()));
        measured.put(Gate.PSNR, pictures.psnr().orElseThrow());
        measured.put(Gate.SSIM, pictures.ssim().orElseThrow());
        measured.put(Gate.SPECTRAL_COSINE, SpectralCosine.of(sound(clip), sound(reference)));
        measured.put(Gate.RMS_RATIO, RmsRatio.of(sound(clip), sound(reference)).farthest());
        return measured;
    }

    private static RgbImage picture(Clip clip, int frame) {
        return new RgbImage(clip.width(), clip.height(), clip.frame(frame));
    }

    private static Sound sound(Clip clip) {
        return new Sound(clip.sampleRate(), new float[][] {clip.left(), clip.right()});
    }
}
