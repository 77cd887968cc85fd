package io.kinema.model.video;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kinema.compute.Backend;
import io.kinema.compute.Tensor;
import io.kinema.compute.reference.ReferenceBackend;
import io.kinema.model.NonFiniteException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class ImageNetPixelsTest {
    @Test
    void everyLevelSurvivesNormalising() {
        for (int c = 0; c < 3; c++) {
            for (int level = 0; level < 256; level++) {
                assertThat(ImageNetPixels.level(ImageNetPixels.normalise(level, c), c)).isEqualTo(level);
            }
        }
    }

    @Test
    void roundsHalfToEvenAndClamps() {
        for (int c = 0; c < 3; c++) {
            for (float x = -6; x < 6; x += 0.0007f) {
                float std = new float[] {0.229f, 0.224f, 0.225f}[c];
                float mean = new float[] {0.485f, 0.456f, 0.406f}[c];
                float scaled = Math.clamp(x * std + mean, 0f, 1f) * 255f;
                assertThat(ImageNetPixels.level(x, c)).isEqualTo((int) Math.rint(scaled));
            }
            assertThat(ImageNetPixels.level(Float.NaN, c)).isZero();
            assertThat(ImageNetPixels.level(Float.POSITIVE_INFINITY, c)).isEqualTo(255);
        }
    }

    @Test
    void picturesGoThroughASourceAndASink() {
        byte[][] pictures = new byte[2][3 * 4 * 5];
        Random random = new Random(1);
        for (byte[] picture : pictures) {
            random.nextBytes(picture);
        }
        try (Backend backend = new ReferenceBackend()) {
            Tensor frames = Tensor.ofFloats(new float[3 * 2 * 4 * 5], 3, 2, 4, 5);
            ImageNetPixels.source(backend, 2, 4, 5, i -> pictures[i]).read(0, frames);
            List<byte[]> out = new ArrayList<>();
            new RgbFrameSink(backend, (index, rgb) -> {
                assertThat(index).isEqualTo(7 + out.size());
                out.add(rgb);
            }).frames(7, frames);
            assertThat(out).containsExactly(pictures);
        }
    }

    @Test
    void aValueThatIsNotFiniteIsRefusedAndNotDrawnBlack() {
        try (Backend backend = new ReferenceBackend()) {
            for (float bad : new float[] {Float.NaN, Float.NEGATIVE_INFINITY, Float.POSITIVE_INFINITY}) {
                float[] values = new float[3 * 2 * 4 * 5];
                values[2 * 20 + 20 + 3] = bad;
                assertThatThrownBy(() -> new RgbFrameSink(backend, (index, rgb) -> { }).frames(7, Tensor.ofFloats(values, 3, 2, 4, 5)))
                        .isInstanceOf(NonFiniteException.class).hasMessageContaining("frame 8");
            }
        }
    }

    @Test
    void refusesWrongSizes() {
        Tensor frame = Tensor.ofFloats(new float[12], 3, 2, 2);
        assertThatThrownBy(() -> ImageNetPixels.toBytes(frame, new byte[11])).hasMessageContaining("got 11 bytes, expected 12");
        assertThatThrownBy(() -> ImageNetPixels.toBytes(frame.reshape(1, 3, 4), new byte[12])).hasMessageContaining("expected a host tensor [3, height, width]");
    }
}
