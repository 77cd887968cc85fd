package io.kinema.quality.compare;

import io.kinema.quality.picture.Flash;
import io.kinema.quality.picture.Seam;
import io.kinema.quality.sound.Click;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** Words what the detectors found in the candidate and not in the reference. */
final class Warnings {
    /** ITU-R BT.1359-1: sound that comes this early is noticed; later sound is noticed later. */
    private static final double NOTICED_MS = 45;
    private static final double SAME_CLICK_SECONDS = 0.005;
    private static final int SHOWN = 5;

    private final List<String> warnings = new ArrayList<>();

    private Warnings() {
    }

    static List<String> of(Comparison comparison) {
        Warnings all = new Warnings();
        comparison.tensors().ifPresent(all::tensors);
        comparison.pictures().ifPresent(all::pictures);
        comparison.sound().ifPresent(all::sound);
        comparison.sync().ifPresent(all::sync);
        return all.warnings;
    }

    private void tensors(TensorComparison tensors) {
        tensors.tensors().stream().filter(t -> t.candidateNonFinite() > 0).forEach(t -> warn("tensor %s: %d of %d values of the candidate are NaN or infinite",
                t.name(), t.candidateNonFinite(), t.shape().elements()));
    }

    private void pictures(PictureComparison pictures) {
        Faults.Pictures here = pictures.candidate();
        Faults.Pictures there = pictures.reference();
        List<Flash> flashes = here.flashes().stream().filter(f -> there.flashes().stream().noneMatch(g -> Math.abs(g.frame() - f.frame()) <= 1)).toList();
        if (!flashes.isEmpty()) {
            warn("%s in the candidate only: %s", count(flashes.size(), "single-frame flash", "single-frame flashes"), flashes.stream().limit(SHOWN)
                    .map(f -> String.format(Locale.ROOT, "frame %d (%.0f levels)", f.frame(), f.strength())).collect(Collectors.joining(", ")));
        }
        List<Seam> seams = here.seams().stream().filter(s -> there.seams().stream().noneMatch(t -> t.axis() == s.axis() && Math.abs(t.position() - s.position()) <= 1)).toList();
        if (!seams.isEmpty()) {
            warn("%s in the candidate only: %s", count(seams.size(), "tile seam", "tile seams"), seams.stream().limit(SHOWN).map(s -> String.format(Locale.ROOT, "%s %d (%.1f levels)",
                    s.axis() == Seam.Axis.VERTICAL ? "column" : "row", s.position(), s.levels())).collect(Collectors.joining(", ")));
        }
        List<Integer> repeats = here.repeats().stream().filter(t -> !there.repeats().contains(t)).toList();
        if (!repeats.isEmpty()) {
            warn("%s in the candidate only: %s", count(repeats.size(), "frame that repeats the one before", "frames that repeat the one before"),
                    repeats.stream().limit(SHOWN).map(String::valueOf).collect(Collectors.joining(", ")));
        }
        if (here.constant() && !there.constant()) {
            warn("all frames of the candidate are the same");
        }
    }

    private void sound(SoundComparison sound) {
        Faults.Sound here = sound.candidate();
        Faults.Sound there = sound.reference();
        if (here.levels().nonFinite() > 0) {
            warn("%d samples of the candidate are NaN or infinite", here.levels().nonFinite());
        }
        if (here.levels().clipped()) {
            warn("the candidate's sound is clipped: %.3f%% of its samples are at full scale (the reference: %.3f%%)", 100 * here.levels().fullScaleShare(), 100 * there.levels().fullScaleShare());
        }
        int near = (int) (SAME_CLICK_SECONDS * sound.referenceSound().sampleRate());
        List<Click> clicks = here.clicks().stream()
                .filter(c -> there.clicks().stream().noneMatch(d -> d.channel() == c.channel() && Math.abs(d.sample() - c.sample()) <= near)).toList();
        if (!clicks.isEmpty()) {
            warn("%s in the candidate only: %s", count(clicks.size(), "click", "clicks"), clicks.stream().limit(SHOWN).map(c -> String.format(Locale.ROOT, "%.3f s (channel %d)",
                    (double) c.sample() / sound.referenceSound().sampleRate(), c.channel())).collect(Collectors.joining(", ")));
        }
    }

    private void sync(Sync sync) {
        sync.worstDrift().filter(drift -> Math.abs(drift) > NOTICED_MS).ifPresent(drift -> warn("sound and pictures drift apart: the candidate's sound is up to %.0f ms %s",
                Math.abs(drift), drift > 0 ? "late" : "early"));
        boolean uneven = sync.candidateEnd().isPresent() && Math.abs(sync.candidateEnd().getAsDouble()) > NOTICED_MS
                && Math.abs(sync.candidateEnd().getAsDouble() - sync.referenceEnd().orElse(0)) > 1;
        if (uneven) {
            warn("the candidate's sound ends %.0f ms %s its pictures", Math.abs(sync.candidateEnd().getAsDouble()), sync.candidateEnd().getAsDouble() > 0 ? "after" : "before");
        }
    }

    private static String count(int n, String one, String many) {
        return n + " " + (n == 1 ? one : many);
    }

    private void warn(String format, Object... values) {
        warnings.add(String.format(Locale.ROOT, format, values));
    }
}
