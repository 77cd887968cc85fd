package io.kinema.quality.report;

import io.kinema.quality.Numbers;
import io.kinema.quality.compare.Comparison;
import io.kinema.quality.compare.Faults;
import io.kinema.quality.compare.PictureComparison;
import io.kinema.quality.compare.SoundComparison;
import io.kinema.quality.compare.Sync;
import io.kinema.quality.compare.TensorComparison;
import io.kinema.quality.picture.FrameComparison;
import io.kinema.quality.picture.FrameSeries;
import io.kinema.quality.sound.Levels;
import io.kinema.quality.tensor.TensorDifference;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** What was measured beside the gates, in words that the table and the page share. */
final class Findings {
    private static final int SHOWN = 4;

    private final List<Finding> all = new ArrayList<>();

    private Findings() {
    }

    static List<Finding> of(Comparison comparison) {
        Findings findings = new Findings();
        comparison.tensors().ifPresent(findings::tensors);
        comparison.pictures().ifPresent(findings::pictures);
        comparison.sound().ifPresent(findings::sound);
        comparison.sync().ifPresent(findings::sync);
        return List.copyOf(findings.all);
    }

    private void tensors(TensorComparison tensors) {
        long bitwise = tensors.tensors().stream().filter(TensorDifference::bitwise).count();
        String shown = tensors.tensors().stream().filter(t -> !t.bitwise()).limit(SHOWN).map(t -> t.name() + " " + t.shape() + " relative L2 " + Numbers.plain(t.relativeL2())
                + ", largest difference " + Numbers.plain(t.maxAbs()) + ", " + t.differing() + " of " + t.shape().elements() + " values differ").collect(Collectors.joining("; "));
        say("latents", tensors.candidateSource() + " and " + tensors.referenceSource() + ": " + bitwise + " of " + tensors.tensors().size() + " tensors bitwise equal"
                + (shown.isEmpty() ? "" : "; " + shown) + (tensors.tensors().size() - bitwise > SHOWN ? "; ..." : ""));
    }

    private void pictures(PictureComparison pictures) {
        FrameComparison metrics = pictures.metrics();
        say("frames", metrics.frames() + " of " + pictures.width() + "x" + pictures.height() + "; candidate " + pictures.candidateSource() + ", reference " + pictures.referenceSource());
        if (metrics.differing() == 0) {
            say("frames", "bitwise equal");
        } else {
            say("worst frame", "PSNR " + worst(metrics.psnrByFrame(), " dB") + (metrics.ssim().isPresent() ? ", SSIM " + worst(metrics.ssimByFrame(), "") : ""));
        }
        Faults.Pictures a = pictures.candidate();
        Faults.Pictures b = pictures.reference();
        say("picture faults", String.format(Locale.ROOT, "tile-seam score %.2f levels (reference %.2f)", a.seamScore(), b.seamScore()) + ", seams: " + pair(a.seams().size(), b.seams().size())
                + ", flashes: " + pair(a.flashes().size(), b.flashes().size()) + ", repeated frames: " + pair(a.repeats().size(), b.repeats().size()));
    }

    private static String pair(long candidate, long reference) {
        return candidate + " (reference " + reference + ")";
    }

    private static String worst(FrameSeries series, String unit) {
        return Numbers.plain(series.get(series.worst())) + unit + " in frame " + series.worst();
    }

    private void sound(SoundComparison sound) {
        Levels a = sound.candidate().levels();
        Levels b = sound.reference().levels();
        say("sound", String.format(Locale.ROOT, "%.3f s, %d %s, %d Hz; candidate %s, reference %s%s", sound.referenceSound().seconds(), sound.referenceSound().channelCount(),
                sound.referenceSound().channelCount() == 1 ? "channel" : "channels", sound.referenceSound().sampleRate(), sound.candidateSource(), sound.referenceSource(),
                sound.differing() == 0 ? "; bitwise equal" : ""));
        say("levels", String.format(Locale.ROOT, "RMS %s dB (reference %s), peak %.4f (%.4f), full-scale samples %.4f%% (%.4f%%), clicks ",
                Numbers.plain(Math.rint(100 * a.rmsDb()) / 100), Numbers.plain(Math.rint(100 * b.rmsDb()) / 100), a.peak(), b.peak(), 100 * a.fullScaleShare(), 100 * b.fullScaleShare())
                + pair(sound.candidate().clicks().size(), sound.reference().clicks().size()));
    }

    private void sync(Sync sync) {
        String points = sync.points().stream().map(Findings::point).collect(Collectors.joining("; "));
        String end = sync.candidateEnd().isEmpty() ? "" : String.format(Locale.ROOT, "; the sound ends %+.1f ms from the pictures' end (reference %+.1f)",
                sync.candidateEnd().getAsDouble(), sync.referenceEnd().orElse(Double.NaN));
        say("A/V drift", (sync.worstDrift().isPresent() ? String.format(Locale.ROOT, "%+.1f ms", clean(sync.worstDrift().get())) : "cannot be told") + " (" + points + ")" + end);
    }

    private static String point(Sync.Point point) {
        String sound = point.soundLag().isPresent() ? String.format(Locale.ROOT, "sound %+.1f ms", clean(point.soundLag().getAsDouble())) : "sound cannot be told";
        String pictures = point.frames().isPresent() || point.pictureLag() != 0 ? String.format(Locale.ROOT, "pictures %+.1f ms", clean(point.pictureLag())) : "pictures do not tell";
        return String.format(Locale.ROOT, "%.1f-%.1f s: ", point.from(), point.to()) + sound + ", " + pictures;
    }

    /** No minus in front of what rounds to zero. */
    private static double clean(double milliseconds) {
        return Math.abs(milliseconds) < 0.05 ? 0 : milliseconds;
    }

    private void say(String name, String text) {
        all.add(new Finding(name, text));
    }
}
