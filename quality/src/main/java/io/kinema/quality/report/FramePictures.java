package io.kinema.quality.report;

import io.kinema.media.image.RgbImage;
import io.kinema.quality.compare.KeptFrame;

/** The pictures that a report shows of a pair of frames: both, and their difference made visible. */
final class FramePictures {
    private static final int MOST_WIDTH = 800;
    private static final int CROP = 160;
    private static final int CROP_STEP = 16;
    private static final int MOST_GAIN = 128;

    private final KeptFrame frame;
    private final int gain;

    FramePictures(KeptFrame frame) {
        this.frame = frame;
        this.gain = gain(frame);
    }

    /**
     * By how much differences are multiplied: a power of two, at most 128, that leaves all but one in 200 values below full scale. Each frame
     * has its own, since one bad frame would leave nothing to see in the others.
     */
    int gain() {
        return gain;
    }

    private static int gain(KeptFrame frame) {
        long[] counts = new long[256];
        byte[] a = frame.candidate().rgb();
        byte[] b = frame.reference().rgb();
        for (int i = 0; i < a.length; i++) {
            counts[Math.abs((a[i] & 0xff) - (b[i] & 0xff))]++;
        }
        int most = counts.length - 1;
        for (long above = counts[most]; most > 1 && above * 200 <= a.length; above += counts[most]) {
            most--;
        }
        return Math.min(MOST_GAIN, Integer.highestOneBit(255 / most));
    }

    RgbImage candidate() {
        return mean(frame.candidate());
    }

    RgbImage reference() {
        return mean(frame.reference());
    }

    /** |candidate - reference| of each channel, times the gain; where pixels are merged, the largest. */
    RgbImage difference() {
        RgbImage whole = amplified();
        int factor = factor(whole);
        RgbImage out = RgbImage.black(whole.width() / factor, whole.height() / factor);
        for (int y = 0, i = 0; y < out.height(); y++) {
            for (int x = 0; x < out.width(); x++) {
                for (int c = 0; c < RgbImage.CHANNELS; c++) {
                    int most = 0;
                    for (int dy = 0; dy < factor; dy++) {
                        for (int dx = 0; dx < factor; dx++) {
                            most = Math.max(most, whole.at(x * factor + dx, y * factor + dy, c));
                        }
                    }
                    out.rgb()[i++] = (byte) most;
                }
            }
        }
        return out;
    }

    private RgbImage amplified() {
        RgbImage out = RgbImage.black(frame.reference().width(), frame.reference().height());
        byte[] a = frame.candidate().rgb();
        byte[] b = frame.reference().rgb();
        for (int i = 0; i < a.length; i++) {
            out.rgb()[i] = (byte) Math.min(255, gain * Math.abs((a[i] & 0xff) - (b[i] & 0xff)));
        }
        return out;
    }

    /** Where the squared error is largest, at full size: candidate, reference, difference. */
    Crop crop() {
        RgbImage a = frame.candidate();
        int width = Math.min(CROP, a.width());
        int height = Math.min(CROP, a.height());
        long most = -1;
        int left = 0;
        int top = 0;
        for (int y = 0; y + height <= a.height(); y += CROP_STEP) {
            for (int x = 0; x + width <= a.width(); x += CROP_STEP) {
                long error = error(x, y, width, height);
                if (error > most) {
                    most = error;
                    left = x;
                    top = y;
                }
            }
        }
        return new Crop(left, top, a.crop(left, top, width, height), frame.reference().crop(left, top, width, height), amplified().crop(left, top, width, height));
    }

    /** A part of both frames. */
    record Crop(int left, int top, RgbImage candidate, RgbImage reference, RgbImage difference) {
    }

    private long error(int left, int top, int width, int height) {
        long sum = 0;
        for (int y = top; y < top + height; y++) {
            int from = (y * frame.reference().width() + left) * RgbImage.CHANNELS;
            for (int i = from; i < from + width * RgbImage.CHANNELS; i++) {
                int d = (frame.candidate().rgb()[i] & 0xff) - (frame.reference().rgb()[i] & 0xff);
                sum += d * d;
            }
        }
        return sum;
    }

    private static int factor(RgbImage image) {
        return Math.max(1, Math.min(Math.ceilDiv(image.width(), MOST_WIDTH), image.height()));
    }

    private static RgbImage mean(RgbImage image) {
        int factor = factor(image);
        RgbImage out = RgbImage.black(image.width() / factor, image.height() / factor);
        for (int y = 0, i = 0; y < out.height(); y++) {
            for (int x = 0; x < out.width(); x++) {
                for (int c = 0; c < RgbImage.CHANNELS; c++) {
                    int sum = 0;
                    for (int dy = 0; dy < factor; dy++) {
                        for (int dx = 0; dx < factor; dx++) {
                            sum += image.at(x * factor + dx, y * factor + dy, c);
                        }
                    }
                    out.rgb()[i++] = (byte) ((sum + factor * factor / 2) / (factor * factor));
                }
            }
        }
        return out;
    }
}
