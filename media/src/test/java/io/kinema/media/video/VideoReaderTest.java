package io.kinema.media.video;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.kinema.media.BadMediaException;
import io.kinema.media.Clips;
import io.kinema.media.container.MediaLimits;
import io.kinema.media.image.RgbImage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class VideoReaderTest {

    @ParameterizedTest
    @CsvSource({"h264-aac.mp4, 12, 24", "vp9-opus.webm, 15, 29.97", "hevc-pcm.mov, 10, 25"})
    void readsEveryPictureWithItsTime(String name, int frames, double rate) {
        try (VideoReader reader = VideoReader.open(Clips.of(name))) {
            assertThat(reader.width()).isEqualTo(96);
            assertThat(reader.height()).isEqualTo(64);
            assertThat(reader.frameRate()).isCloseTo(rate, within(0.01));
            double first = reader.next().orElseThrow().seconds();
            assertThat(first).isBetween(0.0, 0.01);
            for (int i = 1; i < frames; i++) {
                assertThat(reader.next().orElseThrow().seconds() - first).isCloseTo(i / rate, within(0.002));
            }
            assertThat(reader.next()).isEmpty();
            assertThat(reader.next()).isEmpty();
        }
    }

    @Test
    void turnsPicturesUpright() {
        List<RgbImage> stored = readAll(Clips.of("h264-aac.mp4"));
        List<RgbImage> turned = readAll(Clips.of("h264-turned.mp4"));
        assertThat(turned).hasSameSizeAs(stored);
        RgbImage upright = turned.get(3);
        assertThat(upright).hasToString("64x96 RGB");
        // The file asks for a quarter turn counterclockwise: the top right corner comes to the top left.
        assertThat(upright.at(0, 0, 0)).isEqualTo(stored.get(3).at(95, 0, 0));
        assertThat(upright.at(10, 80, 1)).isEqualTo(stored.get(3).at(15, 10, 1));
        try (VideoReader reader = VideoReader.open(Clips.of("h264-turned.mp4"))) {
            assertThat(reader.width()).isEqualTo(64);
            assertThat(reader.height()).isEqualTo(96);
        }
    }

    @Test
    void readsBackWhatWasWritten(@TempDir Path folder) {
        Path file = folder.resolve("a 红 'b'.mp4".replace("红", System.getProperty("sun.jnu.encoding").startsWith("ANSI") ? "r" : "红"));
        List<RgbImage> written = new ArrayList<>();
        try (Mp4Writer writer = Mp4Writer.open(file, Mp4Format.of(64, 48, 5))) {
            for (int i = 0; i < 5; i++) {
                written.add(flat(64, 48, 40 * i + 20, 200 - 30 * i, 128));
                writer.writeFrame(written.getLast().rgb());
            }
            writer.writeAudio(new float[6667], new float[6667]);
            writer.commit();
        }
        List<RgbImage> read = readAll(file);
        assertThat(read).hasSize(5);
        for (int i = 0; i < 5; i++) {
            for (int c = 0; c < 3; c++) {
                // Wrong weights or a wrong range would be off by ten levels and more.
                assertThat(read.get(i).at(30, 20, c)).as("frame %d channel %d", i, c).isCloseTo(written.get(i).at(30, 20, c), within(3));
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"h264-aac.mp4", "vp9-opus.webm", "hevc-pcm.mov"})
    void refusesFilesCutOffInTheirIndex(String name, @TempDir Path folder) throws IOException {
        byte[] whole = Files.readAllBytes(Clips.of(name));
        for (int length : new int[] {0, 3, 11, 20, 100}) {
            Path file = Files.write(folder.resolve(length + name), Arrays.copyOf(whole, length));
            assertThatThrownBy(() -> readAll(file)).as("first %d bytes", length).isInstanceOf(BadMediaException.class);
        }
    }

    @Test
    void refusesAFileCutOffInItsMedia(@TempDir Path folder) throws IOException {
        Path whole = folder.resolve("whole.mp4");
        try (Mp4Writer writer = Mp4Writer.open(whole, Mp4Format.of(64, 48, 24))) {
            for (int i = 0; i < 24; i++) {
                writer.writeFrame(flat(64, 48, 10 * i, 255 - 10 * i, i).rgb());
            }
            writer.writeAudio(new float[32_000], new float[32_000]);
            writer.commit();
        }
        byte[] bytes = Files.readAllBytes(whole);
        Path file = Files.write(folder.resolve("cut.mp4"), Arrays.copyOf(bytes, bytes.length * 3 / 4));
        assertThatThrownBy(() -> readAll(file)).isInstanceOf(BadMediaException.class).hasMessageContaining("cut off");
    }

    @Test
    void refusesAWebmThatIsShorterThanItSays(@TempDir Path folder) throws IOException {
        byte[] bytes = Files.readAllBytes(Clips.of("vp9-opus.webm"));
        for (int length : new int[] {bytes.length - 1, bytes.length * 3 / 4}) {
            Path file = Files.write(folder.resolve("cut.webm"), Arrays.copyOf(bytes, length));
            assertThatThrownBy(() -> readAll(file)).isInstanceOf(BadMediaException.class)
                    .hasMessageContaining("is cut off: " + length + " of " + bytes.length + " bytes");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"h264-aac.mp4", "vp9-opus.webm", "hevc-pcm.mov"})
    void survivesDamage(String name, @TempDir Path folder) throws IOException {
        byte[] whole = Files.readAllBytes(Clips.of(name));
        Random random = new Random(7);
        for (int round = 0; round < 40; round++) {
            byte[] damaged = whole.clone();
            for (int i = 0; i < 8; i++) {
                damaged[random.nextInt(damaged.length)] = (byte) random.nextInt(256);
            }
            Path file = Files.write(folder.resolve(round + name), damaged);
            try {
                assertThat(readAll(file)).isNotEmpty();
            } catch (BadMediaException e) {
                assertThat(e.getMessage()).contains(name);
            }
        }
    }

    @Test
    void neverFollowsAPlaylist(@TempDir Path folder) throws IOException {
        Files.copy(Clips.of("h264-aac.mp4"), folder.resolve("secret.mp4"));
        for (String text : List.of("#EXTM3U\n#EXTINF:1,\nsecret.mp4\n", "ffconcat version 1.0\nfile secret.mp4\n")) {
            Path file = Files.writeString(folder.resolve("list.mp4"), text);
            assertThatThrownBy(() -> VideoReader.open(file)).isInstanceOf(BadMediaException.class).hasMessageContaining("no video or sound");
        }
    }

    @Test
    void isOfNoUseAfterClose() {
        VideoReader reader = VideoReader.open(Clips.of("h264-aac.mp4"));
        assertThat(reader.next()).isPresent();
        reader.close();
        reader.close();
        assertThat(reader.width()).isEqualTo(96);
        assertThatThrownBy(reader::next).isInstanceOf(IllegalStateException.class).hasMessageContaining("closed");
    }

    @Test
    void keepsToItsLimits() {
        Path file = Clips.of("h264-aac.mp4");
        assertThatThrownBy(() -> VideoReader.open(file, new MediaLimits(100, 1 << 20, 60))).hasMessageContaining("bytes");
        assertThatThrownBy(() -> VideoReader.open(file, new MediaLimits(1 << 20, 100, 60))).hasMessageContaining("96x64");
        assertThatThrownBy(() -> VideoReader.open(file, new MediaLimits(1 << 20, 1 << 20, 0.1))).hasMessageContaining("lasts 0.5");
    }

    @Test
    void refusesMissingFilesFoldersAndSoundAlone(@TempDir Path folder) {
        assertThatThrownBy(() -> VideoReader.open(folder.resolve("none.mp4"))).isInstanceOf(BadMediaException.class)
                .hasMessageContaining("does not exist");
        assertThatThrownBy(() -> VideoReader.open(folder)).isInstanceOf(BadMediaException.class).hasMessageContaining("folder");
        assertThatThrownBy(() -> VideoReader.open(Clips.of("mono.wav"))).isInstanceOf(BadMediaException.class)
                .hasMessageContaining("no video");
    }

    private static List<RgbImage> readAll(Path file) {
        List<RgbImage> images = new ArrayList<>();
        try (VideoReader reader = VideoReader.open(file, new MediaLimits(1 << 24, 1 << 20, 60))) {
            for (Optional<VideoReader.VideoFrame> frame = reader.next(); frame.isPresent(); frame = reader.next()) {
                images.add(frame.get().image());
            }
        }
        return images;
    }

    private static RgbImage flat(int width, int height, int... rgb) {
        RgbImage image = RgbImage.black(width, height);
        for (int i = 0; i < image.rgb().length; i++) {
            image.rgb()[i] = (byte) rgb[i % 3];
        }
        return image;
    }
}
