package io.kinema.media.container;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kinema.media.BadMediaException;
import io.kinema.media.Clips;
import io.kinema.media.audio.AudioReader;
import io.kinema.media.video.VideoReader;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class MediaLimitsTest {

    @TempDir
    Path folder;

    @Test
    void onlyTheReadersOwnStepsCountAgainstItsTime() throws IOException {
        AtomicLong clock = new AtomicLong();
        WorkBudget budget = new WorkBudget("'a.mp4'", Duration.ofSeconds(2), clock::get);
        for (int step = 0; step < 4; step++) {
            clock.addAndGet(1_000_000_000_000L);
            budget.spend(() -> clock.addAndGet(499_000_000));
        }
        budget.spend(() -> {
            assertCanRead(budget);
            clock.addAndGet(4_000_000);
            assertThatThrownBy(budget::check).isInstanceOf(IOException.class);
            return 0;
        });
        assertRefused(() -> budget.spend(() -> 0), "'a.mp4' takes more than 2.0 s to decode");
    }

    private static void assertCanRead(WorkBudget budget) {
        try {
            budget.check();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"h264-aac.mp4", "vp9-opus.webm", "hevc-pcm.mov"})
    void aVideoThatTakesTooLongIsLeft(String name) {
        MediaLimits hasty = MediaLimits.DEFAULT.within(Duration.ofNanos(1));
        assertRefused(() -> VideoReader.open(Clips.of(name), hasty), "takes more than");
    }

    @Test
    void aSoundThatTakesTooLongIsLeft() {
        assertRefused(() -> AudioReader.read(Clips.of("stereo.mp3"), MediaLimits.DEFAULT.within(Duration.ofNanos(1))), "takes more than");
    }

    @Test
    void tooManyFramesAreRefusedByTheHeader() {
        MediaLimits few = new MediaLimits(1 << 20, 1 << 20, 60, 5, 1 << 20, Duration.ofSeconds(30));
        assertRefused(() -> VideoReader.open(Clips.of("h264-aac.mp4"), few), "has 12 frames, expected at most 5");
        assertRefused(() -> VideoReader.open(Clips.of("vp9-opus.webm"), few), "frames, expected at most 5");
    }

    @ParameterizedTest
    @CsvSource({"2, 1999999973", "2, 100", "300, 48000", "9, 48000"})
    void absurdSoundsAreRefusedByTheHeader(int channels, int rate) throws IOException {
        Path file = wav(channels, rate, 40_000);
        assertRefused(() -> AudioReader.read(file), channels + " channels at " + rate + " Hz");
    }

    @Test
    void tooManySamplesAreRefusedByTheHeader() throws IOException {
        MediaLimits few = new MediaLimits(1 << 20, 1 << 20, 60, 5, 10_000, Duration.ofSeconds(30));
        assertRefused(() -> AudioReader.read(wav(2, 8000, 60_000), few), "samples, more than 10000");
    }

    @ParameterizedTest
    @ValueSource(strings = {"heic", "heix", "mif1", "avif"})
    void aPictureInAMovieContainerIsNoVideo(String brand) throws IOException {
        byte[] head = ByteBuffer.allocate(64).putInt(24).put("ftyp".getBytes(StandardCharsets.US_ASCII))
                .put(brand.getBytes(StandardCharsets.US_ASCII)).array();
        Path file = Files.write(folder.resolve("a.mp4"), head);
        assertRefused(() -> VideoReader.open(file), "is a HEIC or AVIF picture");
    }

    /** 16-bit PCM whose header claims these. */
    private Path wav(int channels, int rate, int bytes) throws IOException {
        ByteBuffer wav = ByteBuffer.allocate(44 + bytes).order(ByteOrder.LITTLE_ENDIAN);
        wav.put("RIFF".getBytes(StandardCharsets.US_ASCII)).putInt(36 + bytes).put("WAVEfmt ".getBytes(StandardCharsets.US_ASCII)).putInt(16)
                .putShort((short) 1).putShort((short) channels).putInt(rate).putInt(rate * channels * 2).putShort((short) (channels * 2))
                .putShort((short) 16).put("data".getBytes(StandardCharsets.US_ASCII)).putInt(bytes);
        return Files.write(folder.resolve("a.wav"), wav.array());
    }

    private static void assertRefused(ThrowingCallable reading, String reason) {
        assertThatThrownBy(reading).isInstanceOf(BadMediaException.class).hasMessageContaining(reason).message().doesNotContain("\n");
    }
}
