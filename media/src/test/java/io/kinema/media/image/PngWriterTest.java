package io.kinema.media.image;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.nio.file.Path;
import java.util.Random;
import javax.imageio.ImageIO;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PngWriterTest {

    @Property(tries = 60)
    void everyReaderGetsThePixelsBack(@ForAll @IntRange(min = 1, max = 40) int width, @ForAll @IntRange(min = 1, max = 40) int height,
            @ForAll long seed) throws Exception {
        RgbImage image = random(width, height, seed);
        byte[] file = PngWriter.encode(image);
        assertThat(ImageReader.decode(file, "it", ImageLimits.DEFAULT).rgb()).isEqualTo(image.rgb());
        var other = ImageIO.read(new ByteArrayInputStream(file));
        for (int y = 0; y < height; y++) {
            for (int x = 0; x < width; x++) {
                assertThat(other.getRGB(x, y) & 0xffffff).isEqualTo(image.at(x, y, 0) << 16 | image.at(x, y, 1) << 8 | image.at(x, y, 2));
            }
        }
    }

    @Test
    void writesAFolderOfFrames(@TempDir Path folder) {
        Path frames = folder.resolve("a b '\"").resolve("frames");
        RgbImage image = random(5, 4, 1);
        PngWriter.write(image, PngWriter.frameFile(frames, 7));
        assertThat(ImageReader.read(frames.resolve("frame-00007.png")).rgb()).isEqualTo(image.rgb());
        assertThat(frames).isDirectoryContaining("glob:**frame-00007.png");
        assertThat(frames.toFile().list()).hasSize(1);
    }

    private static RgbImage random(int width, int height, long seed) {
        RgbImage image = RgbImage.black(width, height);
        Random random = new Random(seed);
        for (int i = 0; i < image.rgb().length; i++) {
            // Half smooth, half noise, so that every row filter is chosen somewhere.
            image.rgb()[i] = (byte) (i / 3 % width < width / 2 ? 3 * i : random.nextInt());
        }
        return image;
    }
}
