package io.kinema.quality.picture;

import io.kinema.media.image.RgbImage;
import java.util.Optional;

/**
 * Collects PSNR and SSIM of candidate and reference frames of one size. Keeps numbers, not frames. For one thread; {@link Score}s may
 * be made on others.
 */
public final class FrameComparison {
    private final FrameSeries psnr = new FrameSeries();
    private final FrameSeries ssim = new FrameSeries();
    private long squaredError;
    private long differing;
    private long values;

    /**
     * What one pair of frames scores.
     *
     * @param squaredError {@link SquaredError}
     * @param differing    values that are not equal
     * @param values       how many values there are
     * @param ssim         {@link Ssim} with {@link SsimWindow#GAUSSIAN_11}, NaN for frames smaller than that
     */
    public record Score(long squaredError, long differing, long values, double ssim) {
        /** @throws IllegalArgumentException when the sizes differ */
        public static Score of(RgbImage candidate, RgbImage reference) {
            long values = (long) reference.width() * reference.height() * RgbImage.CHANNELS;
            boolean large = Ssim.takes(reference.width(), reference.height(), SsimWindow.GAUSSIAN_11);
            long error = SquaredError.of(candidate, reference);
            return new Score(error, error == 0 ? 0 : SquaredError.differing(candidate, reference), values, large ? Ssim.of(candidate, reference) : Double.NaN);
        }

        /** {@link Psnr} of this frame alone. */
        public double psnr() {
            return Psnr.of(squaredError, values);
        }
    }

    /** Takes the next pair. */
    public void add(RgbImage candidate, RgbImage reference) {
        add(Score.of(candidate, reference));
    }

    /** Takes the next pair's score. */
    public void add(Score score) {
        psnr.add(score.psnr());
        ssim.add(score.ssim());
        squaredError += score.squaredError();
        differing += score.differing();
        values += score.values();
    }

    /** Pairs so far. */
    public int frames() {
        return psnr.size();
    }

    /** Over all values of all frames; empty before the first. */
    public Optional<Double> psnr() {
        return values == 0 ? Optional.empty() : Optional.of(Psnr.of(squaredError, values));
    }

    /** Mean over the frames; empty before the first, and for frames smaller than the window. */
    public Optional<Double> ssim() {
        return Optional.of(ssim.mean()).filter(mean -> !Double.isNaN(mean));
    }

    /** Values of all frames that are not equal. */
    public long differing() {
        return differing;
    }

    /** PSNR of each frame alone. */
    public FrameSeries psnrByFrame() {
        return psnr;
    }

    /** SSIM of each frame; NaN for frames smaller than the window. */
    public FrameSeries ssimByFrame() {
        return ssim;
    }
}
