package io.kinema.media.audio;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import javax.sound.sampled.AudioInputStream;
import javax.sound.sampled.AudioSystem;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class WavWriterTest {

    @ParameterizedTest
    @CsvSource({"0, 0", "1, 32767", "-1, -32767", "2, 32767", "-7, -32767", "NaN, 0", "Infinity, 32767",
            // Exactly halfway between two steps: to the even one.
            "1.5259255e-5, 0", "0.25, 8192", "-0.25, -8192"})
    void roundsHalfToEvenAndClamps(float sample, short expected) {
        assertThat(WavWriter.pcm(sample)).isEqualTo(expected);
    }

    @Test
    void interleavesWhatAnotherReaderReads(@TempDir Path folder) throws Exception {
        Path file = folder.resolve("a b.wav");
        float[] left = {0f, 0.5f, -0.5f, 1f};
        float[] right = {1f, -1f, 0.25f, 0f};
        WavWriter.write(new Sound(32_000, new float[][] {left, right}), file);
        try (AudioInputStream in = AudioSystem.getAudioInputStream(file.toFile())) {
            assertThat(in.getFormat().getSampleRate()).isEqualTo(32_000f);
            assertThat(in.getFormat().getChannels()).isEqualTo(2);
            assertThat(in.getFrameLength()).isEqualTo(4);
            byte[] bytes = in.readAllBytes();
            for (int i = 0; i < 4; i++) {
                assertThat(sample(bytes, 2 * i)).isEqualTo(WavWriter.pcm(left[i]));
                assertThat(sample(bytes, 2 * i + 1)).isEqualTo(WavWriter.pcm(right[i]));
            }
        }
        assertThat(folder.toFile().list()).containsExactly("a b.wav");
    }

    private static short sample(byte[] bytes, int index) {
        return (short) (bytes[2 * index] & 0xff | bytes[2 * index + 1] << 8);
    }
}
