package io.kinema.measure.qualify;

import io.kinema.engine.Clip;
import io.kinema.media.audio.Sound;
import io.kinema.media.image.RgbImage;
import io.kinema.quality.Gate;
import io.kinema.quality.QualityGates;
import io.kinema.quality.Verdict;
import io.kinema.quality.picture.FrameComparison;
import io.kinema.quality.sound.RmsRatio;
import io.kinema.quality.sound.SpectralCosine;
import io.kinema.quality.tensor.RelativeL2;
import java.util.EnumMap;
import java.util.Map;

/** Holds a candidate's clip to its baseline's by the published gates: final latents, frames before encoding, samples. */
final class ClipQuality {
    private ClipQuality() {
    }

    /** @param candidate of the same request as {@code baseline}, so of the same sizes */
    static Verdict judge(Clip candidate, Clip baseline) {
        Map<Gate, Double> measured = new EnumMap<>(Gate.class);
        measured.put(Gate.VIDEO_LATENTS, RelativeL2.of(candidate.latents().video(), baseline.latents().video()));
        measured.put(Gate.AUDIO_LATENTS, RelativeL2.of(candidate.latents().audio(), baseline.latents().audio()));
        FrameComparison frames = new FrameComparison();
        for (int i = 0; i < baseline.frameCount(); i++) {
            frames.add(picture(candidate, i), picture(baseline, i));
        }
        frames.psnr().ifPresent(psnr -> measured.put(Gate.PSNR, psnr));
        frames.ssim().ifPresent(ssim -> measured.put(Gate.SSIM, ssim));
        measured.put(Gate.SPECTRAL_COSINE, SpectralCosine.of(sound(candidate), sound(baseline)));
        measured.put(Gate.RMS_RATIO, RmsRatio.of(sound(candidate), sound(baseline)).farthest());
        return QualityGates.published().judge(measured);
    }

    private static RgbImage picture(Clip clip, int frame) {
        return new RgbImage(clip.width(), clip.height(), clip.frame(frame));
    }

    private static Sound sound(Clip clip) {
        return new Sound(clip.sampleRate(), new float[][] {clip.left(), clip.right()});
    }
}
