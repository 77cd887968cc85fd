package io.kinema.quality.compare;

import io.kinema.media.image.RgbImage;
import io.kinema.quality.picture.FrameComparison.Score;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/** Remembers the few pairs of frames that a report shows: first, middle, last, and the worst by either number. For one thread. */
final class KeptFrames {
    private final int middle;
    private Optional<KeptFrame> first = Optional.empty();
    private Optional<KeptFrame> half = Optional.empty();
    private Optional<KeptFrame> last = Optional.empty();
    private Optional<KeptFrame> worstPsnr = Optional.empty();
    private Optional<KeptFrame> worstSsim = Optional.empty();

    /** @param expected frames there will be, as far as is known; a wrong number moves the middle only */
    KeptFrames(long expected) {
        middle = (int) Math.min(Integer.MAX_VALUE, expected / 2);
    }

    void add(int index, Score score, RgbImage candidate, RgbImage reference) {
        KeptFrame kept = new KeptFrame(index, "", score, candidate, reference);
        first = first.or(() -> Optional.of(kept));
        half = index <= middle ? Optional.of(kept) : half;
        last = Optional.of(kept);
        if (worstPsnr.isEmpty() || score.psnr() < worstPsnr.get().score().psnr()) {
            worstPsnr = Optional.of(kept);
        }
        if (worstSsim.isEmpty() || score.ssim() < worstSsim.get().score().ssim()) {
            worstSsim = Optional.of(kept);
        }
    }

    /** In order of time; a frame that is kept for several reasons is there once. */
    List<KeptFrame> frames() {
        List<KeptFrame> all = new ArrayList<>();
        worstPsnr.ifPresent(k -> add(all, k, "lowest PSNR"));
        worstSsim.ifPresent(k -> add(all, k, "lowest SSIM"));
        first.ifPresent(k -> add(all, k, "first"));
        half.ifPresent(k -> add(all, k, "middle"));
        last.ifPresent(k -> add(all, k, "last"));
        all.sort(Comparator.comparingInt(KeptFrame::index));
        return List.copyOf(all);
    }

    private static void add(List<KeptFrame> all, KeptFrame kept, String reason) {
        for (int i = 0; i < all.size(); i++) {
            if (all.get(i).index() == kept.index()) {
                all.set(i, all.get(i).because(all.get(i).reason() + ", " + reason));
                return;
            }
        }
        all.add(kept.because(reason));
    }
}
