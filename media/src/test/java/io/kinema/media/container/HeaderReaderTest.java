package io.kinema.media.container;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.within;

import io.kinema.media.BadMediaException;
import io.kinema.media.Clips;
import io.kinema.media.video.Mp4Format;
import io.kinema.media.video.Mp4Writer;
import io.kinema.media.video.VideoReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HeaderReaderTest {
    @TempDir
    private Path folder;

    @ParameterizedTest
    @ValueSource(strings = {"h264-aac.mp4", "h264-turned.mp4", "hevc-pcm.mov", "vp9-opus.webm"})
    void saysOfAVideoWhatItsReaderFinds(String name) {
        MediaHeader.Video header = HeaderReader.read(Clips.of(name)).video().orElseThrow();
        try (VideoReader reader = VideoReader.open(Clips.of(name))) {
            int frames = 0;
            while (reader.next().isPresent()) {
                frames++;
            }
            assertThat(header.width()).isEqualTo(reader.width());
            assertThat(header.height()).isEqualTo(reader.height());
            assertThat(header.frameRate()).isEqualTo(reader.frameRate());
            assertThat(header.frames()).isCloseTo(frames, within(1L));
            assertThat(header.seconds()).isCloseTo(frames / reader.frameRate(), within(0.1));
        }
    }

    @Test
    void saysOfASoundItsRateAndChannels() {
        MediaHeader header = HeaderReader.read(Clips.of("mono.wav"));
        assertThat(header.video()).isEmpty();
        assertThat(header.sound()).contains(new MediaHeader.Sound("pcm_s16le", 22_050, 1, 0.3));
    }

    @Test
    void tagsOfAWrittenFileComeBack() {
        Path file = folder.resolve("tagged.mp4");
        Map<String, String> tags = Map.of("kinema.seed", "7", "kinema.request", "{\"prompt\":\"红色 \\\"x\\\" ; = \\n\"}");
        try (Mp4Writer writer = Mp4Writer.open(file, Mp4Format.of(32, 32, 1).withMetadata(tags))) {
            writer.writeFrame(new byte[32 * 32 * 3]);
            writer.writeAudio(new float[1333], new float[1333]);
            writer.commit();
        }
        assertThat(HeaderReader.read(file).tags()).containsAllEntriesOf(tags);
    }

    @Test
    void knowsContainersByTheirFirstBytes() throws IOException {
        assertThat(HeaderReader.knows(Clips.of("vp9-opus.webm"))).isTrue();
        assertThat(HeaderReader.knows(Files.writeString(folder.resolve("list.mp4"), "ffconcat version 1.0\nfile /etc/passwd\n"))).isFalse();
        assertThat(HeaderReader.knows(folder)).isFalse();
        assertThat(HeaderReader.knows(folder.resolve("none"))).isFalse();
    }

    @Test
    void refusesWhatIsBeyondItsLimitsOrBroken() throws IOException {
        Path clip = Clips.of("h264-aac.mp4");
        refused(clip, new MediaLimits(10, 1 << 20, 10), "bytes");
        refused(clip, new MediaLimits(1 << 20, 100, 10), "pixels");
        refused(clip, new MediaLimits(1 << 20, 1 << 20, 0.1), "lasts");
        refused(folder, MediaLimits.DEFAULT, "folder");
        refused(folder.resolve("none"), MediaLimits.DEFAULT, "does not exist");
        refused(Files.write(folder.resolve("cut.mp4"), Arrays.copyOf(Files.readAllBytes(clip), 60)), MediaLimits.DEFAULT, "damaged");
    }

    private static void refused(Path file, MediaLimits limits, String says) {
        assertThatExceptionOfType(BadMediaException.class).isThrownBy(() -> HeaderReader.read(file, limits)).withMessageContaining(says);
    }
}
