package io.kinema.serve.preview;

import static org.assertj.core.api.Assertions.assertThat;

import io.kinema.media.image.RgbImage;
import java.util.Random;
import org.junit.jupiter.api.Test;

class LatentColoursTest {
    private static final int CHANNELS = 6;
    private static final int HEIGHT = 8;
    private static final int WIDTH = 12;

    /** Where colours follow from latents by an affine map, it is found. */
    @Test
    void coloursAreLearnedFromFinishedClips() {
        LatentColours colours = new LatentColours(CHANNELS);
        LatentFrame frame = frame(1);
        assertThat(colours.picture(frame)).isEmpty();
        for (int seed = 1; seed < 4; seed++) {
            colours.learn(frame(seed), picture(frame(seed)));
        }
        LatentFrame other = frame(9);
        byte[] expected = picture(other).rgb();
        byte[] got = colours.picture(other).orElseThrow().rgb();
        for (int i = 0; i < got.length; i++) {
            assertThat(Math.abs((got[i] & 0xff) - (expected[i] & 0xff))).as("byte %s", i).isLessThanOrEqualTo(6);
        }
        assertThat(colours.picture(new LatentFrame(1, 1, 1, new float[1]))).as("other channels").isEmpty();
    }

    @Test
    void aSingleFlatClipIsEnoughToBegin() {
        LatentColours colours = new LatentColours(CHANNELS);
        LatentFrame flat = new LatentFrame(CHANNELS, HEIGHT, WIDTH, new float[CHANNELS * HEIGHT * WIDTH]);
        byte[] rgb = new byte[HEIGHT * WIDTH * 3];
        java.util.Arrays.fill(rgb, (byte) 100);
        colours.learn(flat, new RgbImage(WIDTH, HEIGHT, rgb));
        assertThat(colours.picture(flat).orElseThrow().rgb()).containsOnly(100);
    }

    @Test
    void withoutColoursItIsGrey() {
        byte[] rgb = LatentColours.grey(frame(3)).rgb();
        for (int i = 0; i < rgb.length; i += 3) {
            assertThat(rgb[i]).isEqualTo(rgb[i + 1]).isEqualTo(rgb[i + 2]);
        }
        assertThat(rgb).contains(0, (byte) 255);
    }

    private static LatentFrame frame(long seed) {
        Random random = new Random(seed);
        float[] values = new float[CHANNELS * HEIGHT * WIDTH];
        for (int i = 0; i < values.length; i++) {
            values[i] = (float) random.nextGaussian();
        }
        return new LatentFrame(CHANNELS, HEIGHT, WIDTH, values);
    }

    private static RgbImage picture(LatentFrame frame) {
        byte[] rgb = new byte[frame.cells() * 3];
        for (int i = 0; i < frame.cells(); i++) {
            for (int c = 0; c < 3; c++) {
                rgb[i * 3 + c] = (byte) Math.clamp(Math.round(128 + 15 * frame.at(c, i) - 10 * frame.at(c + 3, i)), 0, 255);
            }
        }
        return new RgbImage(WIDTH, HEIGHT, rgb);
    }
}
