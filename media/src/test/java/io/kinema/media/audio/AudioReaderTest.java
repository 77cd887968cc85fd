package io.kinema.media.audio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.kinema.media.BadMediaException;
import io.kinema.media.Clips;
import io.kinema.media.container.MediaLimits;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The clips hold FFmpeg's sine: 440 Hz, amplitude 1/8, phase 0. */
class AudioReaderTest {

    @ParameterizedTest
    @CsvSource({"mono.wav, 1, 22050, 6615, 0.001", "stereo.flac, 2, 32000, 9600, 0.001", "mono.ogg, 1, 32000, 9472, 0.03",
            "hevc-pcm.mov, 1, 16000, 6400, 0.001"})
    void readsTheWholeTone(String name, int channels, int rate, int length, double tolerance) {
        Sound sound = AudioReader.read(Clips.of(name));
        assertThat(sound.sampleRate()).isEqualTo(rate);
        assertThat(sound.channelCount()).isEqualTo(channels);
        assertThat(sound.length()).isEqualTo(length);
        assertTone(sound, 0, length, tolerance);
    }

    @ParameterizedTest
    @CsvSource({"stereo.mp3, 2, 44100, 13230", "h264-aac.mp4, 2, 44100, 22050", "vp9-opus.webm, 1, 48000, 24000"})
    void leavesOutWhatTheEncoderPutInFront(String name, int channels, int rate, int length) {
        Sound sound = AudioReader.read(Clips.of(name));
        assertThat(sound.channelCount()).isEqualTo(channels);
        assertThat(sound.sampleRate()).isEqualTo(rate);
        assertThat(sound.length()).isBetween(length, length + 2400);
        // A delay of 1 ms would already turn the phase by 160 degrees.
        assertTone(sound, 2000, length - 2000, 0.04);
    }

    @Test
    void aWrittenWavComesBack(@TempDir Path folder) {
        float[] left = new float[5000];
        float[] right = new float[5000];
        Random random = new Random(3);
        for (int i = 0; i < left.length; i++) {
            left[i] = random.nextFloat(-1, 1);
            right[i] = random.nextFloat(-1, 1);
        }
        Path file = folder.resolve("a.wav");
        WavWriter.write(new Sound(32_000, new float[][] {left, right}), file);
        Sound read = AudioReader.read(file);
        for (int i = 0; i < left.length; i++) {
            assertThat(read.channel(0)[i]).isEqualTo(WavWriter.pcm(left[i]) / 32768f);
            assertThat(read.channel(1)[i]).isEqualTo(WavWriter.pcm(right[i]) / 32768f);
        }
    }

    @Test
    void aSilentVideoHasNoTrack() {
        assertThat(AudioReader.readTrack(Clips.of("h264-turned.mp4"), MediaLimits.DEFAULT)).isEmpty();
        assertThatThrownBy(() -> AudioReader.read(Clips.of("h264-turned.mp4"))).isInstanceOf(BadMediaException.class)
                .hasMessageContaining("has no sound");
    }

    @ParameterizedTest
    @ValueSource(strings = {"mono.wav", "stereo.flac", "mono.ogg", "stereo.mp3", "h264-aac.mp4"})
    void survivesDamage(String name, @TempDir Path folder) throws IOException {
        byte[] whole = Files.readAllBytes(Clips.of(name));
        Random random = new Random(11);
        for (int round = 0; round < 40; round++) {
            byte[] damaged = Arrays.copyOf(whole, round % 2 == 0 ? whole.length : random.nextInt(whole.length));
            for (int i = 0; i < 6 && damaged.length > 0; i++) {
                damaged[random.nextInt(damaged.length)] = (byte) random.nextInt(256);
            }
            Path file = Files.write(folder.resolve(round + name), damaged);
            try {
                assertThat(AudioReader.read(file, new MediaLimits(1 << 20, 1 << 20, 10)).length()).isPositive();
            } catch (BadMediaException e) {
                assertThat(e.getMessage()).contains(name);
            }
        }
    }

    private static void assertTone(Sound sound, int from, int to, double tolerance) {
        for (int c = 0; c < sound.channelCount(); c++) {
            for (int i = from; i < to; i += 7) {
                double expected = 0.125 * Math.sin(2 * Math.PI * 440 * i / sound.sampleRate());
                assertThat((double) sound.channel(c)[i]).as("channel %d sample %d", c, i).isCloseTo(expected, within(tolerance));
            }
        }
    }
}
