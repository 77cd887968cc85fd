package io.kinema.quality.picture;

import io.kinema.media.image.RgbImage;
import java.util.Random;

/** Pictures made by formula, for tests. */
public final class Pictures {
    /** A value 0..255 of a channel at a place. */
    public interface Paint {
        double at(int x, int y, int channel);
    }

    private Pictures() {
    }

    /** A picture of which each value is rounded and clamped to 0..255. */
    public static RgbImage paint(int width, int height, Paint paint) {
        RgbImage image = RgbImage.black(width, height);
        for (int y = 0, i = 0; y < height; y++) {
            for (int x = 0; x < width; x++) {
                for (int c = 0; c < RgbImage.CHANNELS; c++) {
                    image.rgb()[i++] = (byte) Math.clamp(Math.round(paint.at(x, y, c)), 0, 255);
                }
            }
        }
        return image;
    }

    /** Soft waves that drift with {@code time}, different in each channel. */
    public static RgbImage waves(int width, int height, double time) {
        return paint(width, height, (x, y, c) -> 128 + 60 * Math.sin(0.11 * x + 0.2 * time + c) + 50 * Math.cos(0.07 * y - 0.13 * time + 2 * c));
    }

    /** The picture with Gaussian noise. */
    public static RgbImage noisy(RgbImage image, double sigma, long seed) {
        Random random = new Random(seed);
        return paint(image.width(), image.height(), (x, y, c) -> image.at(x, y, c) + sigma * random.nextGaussian());
    }
}
