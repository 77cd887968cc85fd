package io.kinema.media.image;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kinema.media.BadMediaException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Each file in the test pictures has a PNG beside it with what Pillow reads from it. */
class ImageReaderTest {

    private static final String EXPECTED = ".expected.png";

    static Stream<String> pictures() throws IOException {
        try (Stream<Path> files = Files.list(folder())) {
            return files.map(f -> f.getFileName().toString()).filter(n -> !n.endsWith(EXPECTED)).sorted().toList().stream();
        }
    }

    @ParameterizedTest
    @MethodSource("pictures")
    void readsWhatPillowReads(String name) {
        RgbImage expected = ImageReader.read(folder().resolve(name + EXPECTED));
        RgbImage got = ImageReader.read(folder().resolve(name));
        assertThat(got.toString()).isEqualTo(expected.toString());
        assertThat(largestDifference(got, expected)).as("largest difference of bytes").isZero();
    }

    @ParameterizedTest
    @ValueSource(strings = {"png-rgb.png", "jpeg-420.jpg", "jpeg-progressive.jpg", "webp-lossy.webp", "webp-lossless.webp"})
    void refusesEveryTruncation(String name) throws IOException {
        byte[] whole = Files.readAllBytes(folder().resolve(name));
        for (int length = 0; length < whole.length - 16; length += 1 + length / 8) {
            byte[] part = Arrays.copyOf(whole, length);
            assertThatThrownBy(() -> ImageReader.decode(part, "part", ImageLimits.DEFAULT)).as("first %d bytes", length)
                    .isInstanceOf(BadMediaException.class).message().startsWith("The ").doesNotContain("\n");
        }
    }

    @ParameterizedTest
    @MethodSource("pictures")
    void survivesDamage(String name) throws IOException {
        byte[] whole = Files.readAllBytes(folder().resolve(name));
        Random random = new Random(name.hashCode());
        for (int round = 0; round < 60; round++) {
            byte[] damaged = whole.clone();
            for (int i = 0; i < 3; i++) {
                damaged[random.nextInt(damaged.length)] = (byte) random.nextInt(256);
            }
            try {
                RgbImage image = ImageReader.decode(damaged, "damaged", new ImageLimits(1 << 20, 1 << 20));
                assertThat(image.width()).isPositive();
            } catch (BadMediaException e) {
                assertThat(e.getMessage()).contains("damaged");
            }
        }
    }

    @Test
    void refusesAnEmptyFile(@TempDir Path folder) throws IOException {
        Path file = Files.createFile(folder.resolve("empty.png"));
        assertThatThrownBy(() -> ImageReader.read(file)).isInstanceOf(BadMediaException.class).hasMessageContaining("0 bytes");
    }

    @Test
    void refusesAMissingFileAndAFolder(@TempDir Path folder) {
        assertThatThrownBy(() -> ImageReader.read(folder.resolve("none.png"))).isInstanceOf(BadMediaException.class)
                .hasMessageContaining("does not exist");
        assertThatThrownBy(() -> ImageReader.read(folder)).isInstanceOf(BadMediaException.class).hasMessageContaining("folder");
    }

    @Test
    void refusesAHugePictureByItsHeader() {
        byte[] png = PngWriter.encode(RgbImage.black(4, 4));
        ByteBuffer.wrap(png).putInt(16, 40_000).putInt(20, 40_000);
        assertThatThrownBy(() -> ImageReader.decode(png, "huge", ImageLimits.DEFAULT)).isInstanceOf(BadMediaException.class)
                .hasMessageContaining("40000x40000");
    }

    @Test
    void refusesAFileBeyondTheByteLimit(@TempDir Path folder) {
        Path file = folder.resolve("big.png");
        PngWriter.write(RgbImage.black(64, 64), file);
        assertThatThrownBy(() -> ImageReader.read(file, new ImageLimits(40, 1 << 20))).isInstanceOf(BadMediaException.class)
                .hasMessageContaining("more than 40 bytes");
    }

    @Test
    void refusesAJpegOfEndlessScans() throws IOException {
        byte[] whole = Files.readAllBytes(folder().resolve("jpeg-progressive.jpg"));
        ByteBuffer many = ByteBuffer.allocate(whole.length + 2 * 101).put(whole, 0, whole.length - 2);
        for (int i = 0; i < 101; i++) {
            many.putShort((short) 0xffda);
        }
        many.put(whole, whole.length - 2, 2);
        assertThatThrownBy(() -> ImageReader.decode(many.array(), "'a.jpg'", ImageLimits.DEFAULT)).isInstanceOf(BadMediaException.class)
                .hasMessageContaining("scans, more than 100");
    }

    @Test
    void readsOnePixel() {
        byte[] rgb = {1, 2, (byte) 250};
        RgbImage image = ImageReader.decode(PngWriter.encode(new RgbImage(1, 1, rgb)), "dot", ImageLimits.DEFAULT);
        assertThat(image.rgb()).isEqualTo(rgb);
    }

    @Test
    void neverReadsAPlaylist(@TempDir Path folder) throws IOException {
        Path file = Files.writeString(folder.resolve("list.png"), "#EXTM3U\n#EXTINF:1,\nfile:///etc/hostname\n");
        assertThatThrownBy(() -> ImageReader.read(file)).isInstanceOf(BadMediaException.class).hasMessageContaining("not a picture");
    }

    private static int largestDifference(RgbImage a, RgbImage b) {
        int largest = 0;
        for (int i = 0; i < a.rgb().length; i++) {
            largest = Math.max(largest, Math.abs((a.rgb()[i] & 0xff) - (b.rgb()[i] & 0xff)));
        }
        return largest;
    }

    private static Path folder() {
        try {
            return Path.of(ImageReaderTest.class.getResource("/pictures").toURI());
        } catch (URISyntaxException e) {
            throw new UncheckedIOException(new IOException(e));
        }
    }
}
