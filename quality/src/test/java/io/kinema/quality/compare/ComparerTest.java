package io.kinema.quality.compare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;
import static org.assertj.core.api.Assertions.within;

import io.kinema.media.BadMediaException;
import io.kinema.media.audio.Sound;
import io.kinema.media.audio.WavWriter;
import io.kinema.media.image.PngWriter;
import io.kinema.media.image.RgbImage;
import io.kinema.media.video.Mp4Format;
import io.kinema.media.video.Mp4Writer;
import io.kinema.quality.Gate;
import io.kinema.quality.GateLine;
import io.kinema.quality.QualityGates;
import io.kinema.quality.Verdict;
import io.kinema.quality.picture.Pictures;
import io.kinema.quality.sound.Sounds;
import io.kinema.weights.BadWeightsException;
import io.kinema.weights.MemoryTensors;
import io.kinema.weights.SafetensorsWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ComparerTest {
    private static final ComparisonOptions DEFAULTS = ComparisonOptions.defaults();
    private static final ComparisonOptions COMMON = new ComparisonOptions(QualityGates.published(), false, true, false, false);
    private static final ComparisonOptions BITWISE = new ComparisonOptions(QualityGates.published(), false, false, true, false);
    private static final ComparisonOptions ENCODED = new ComparisonOptions(QualityGates.published(), true, false, false, false);

    @TempDir
    private Path folder;

    @Test
    void resultFoldersAreComparedBeforeEncodingOnEveryGate() throws IOException {
        Path a = ResultFolder.whole(folder.resolve("a"), 1, 0.6);
        Path b = ResultFolder.whole(folder.resolve("b"), 1, 0);
        Comparison comparison = Comparer.compare(a, b, DEFAULTS);
        assertThat(comparison.verdict()).as(comparison.verdict().toString()).matches(Verdict::complete).matches(Verdict::passed);
        assertThat(comparison.pictures().orElseThrow().candidateSource()).isEqualTo("frames before encoding (frames/)");
        assertThat(comparison.sound().orElseThrow().candidateSource()).isEqualTo("samples of clip.wav (pcm_s16le)");
        assertThat(comparison.pictures().orElseThrow().metrics().frames()).isEqualTo(ResultFolder.FRAMES);
        assertThat(comparison.sync().orElseThrow().worstDrift().orElseThrow()).isCloseTo(0, within(0.1));
        assertThat(comparison.sync().orElseThrow().candidateEnd()).hasValue(0);
        assertThat(comparison.notes()).isEmpty();
        assertThat(comparison.warnings()).isEmpty();
    }

    @Test
    void aClipByNameFindsItsNeighboursAndEncodedLeavesThemAlone() throws IOException {
        Path a = ResultFolder.whole(folder.resolve("a"), 1, 0.6).resolve("clip.mp4");
        new ResultFolder(folder.resolve("a"), "other").clip(t -> ResultFolder.wave(t, 3), ResultFolder.sound(3, 0));
        Comparison named = Comparer.compare(a, a, DEFAULTS);
        // Not alone in its folder, so a folder called frames might be the other clip's.
        assertThat(named.candidate().frames()).isEmpty();
        assertThat(named.candidate().tensors()).isPresent();
        assertThat(named.candidate().sound()).isPresent();
        Files.move(folder.resolve("a/frames"), folder.resolve("a/clip-frames"));
        assertThat(Comparer.compare(a, a, DEFAULTS).candidate().frames()).hasSize(ResultFolder.FRAMES);
        Comparison encoded = Comparer.compare(a, a, ENCODED);
        assertThat(encoded.pictures().orElseThrow().candidateSource()).isEqualTo("decoded from clip.mp4 (h264)");
        assertThat(encoded.verdict().notMeasured()).containsExactly(Gate.VIDEO_LATENTS, Gate.AUDIO_LATENTS);
        assertThat(encoded.notes()).anyMatch(note -> note.contains("lossy"));
    }

    @Test
    void oneSideWithoutFramesIsDecodedOnBothSides() throws IOException {
        Path a = ResultFolder.whole(folder.resolve("a"), 1, 0);
        Path b = folder.resolve("b");
        new ResultFolder(b, "clip").clip(t -> ResultFolder.wave(t, 1), ResultFolder.sound(1, 0));
        Comparison comparison = Comparer.compare(a, b, DEFAULTS);
        assertThat(comparison.pictures().orElseThrow().metrics().differing()).isZero();
        assertThat(comparison.sound().orElseThrow().differing()).isZero();
        assertThat(comparison.notes()).contains("only the candidate has latents; they were not compared");
    }

    @Test
    void staleNeighboursAreLeftOutAndNamed() throws IOException {
        Path a = folder.resolve("a");
        new ResultFolder(a, "clip").clip(t -> ResultFolder.wave(t, 1), ResultFolder.sound(1, 0)).record(1).latents(2, 0)
                .wav(Sounds.mono(new float[3200])).frames("frames", t -> Pictures.waves(32, 32, t));
        Side side = SideFinder.find(a, false);
        assertThat(side.tensors()).isEmpty();
        assertThat(side.sound()).isEmpty();
        assertThat(side.frames()).isEmpty();
        assertThat(side.notes()).hasSize(3).anyMatch(n -> n.contains("seed or model")).anyMatch(n -> n.contains("0.100 s")).anyMatch(n -> n.contains("32x32"));
    }

    @Test
    void otherSizesAreRefusedByName() {
        Path a = frames("a", 5, 32, 32);
        Path b = frames("b", 5, 32, 48);
        assertThatThrownBy(() -> Comparer.compare(a, b, COMMON)).isInstanceOf(BadMediaException.class).hasMessageContaining("32x32").hasMessageContaining("32x48");
    }

    @Test
    void otherCountsAreRefusedUnlessTheCommonPartWasAskedFor() {
        Path a = frames("a", 7, 32, 32);
        Path b = frames("b", 5, 32, 32);
        assertThatThrownBy(() -> Comparer.compare(a, b, DEFAULTS)).isInstanceOf(BadMediaException.class)
                .hasMessageContaining("7 frames").hasMessageContaining("reference 5").hasMessageContaining("--common");
        Comparison comparison = Comparer.compare(a, b, COMMON);
        assertThat(comparison.pictures().orElseThrow().metrics().frames()).isEqualTo(5);
        assertThat(comparison.notes()).containsExactly("The candidate has 7 frames and the reference 5: the first 5 of each were compared");
    }

    @Test
    void soundsOfOtherRatesLengthsAndChannelsAreRefusedUnlessTheCommonPartWasAskedFor() throws IOException {
        Path a = wav("a", new Sound(48_000, new float[][] {Sounds.samples(48_000, i -> 0.3 * Math.sin(2 * Math.PI * 440 * i / 48_000))}));
        Path b = wav("b", new Sound(32_000, new float[][] {Sounds.tone(24_000, 440, 0.3), Sounds.tone(24_000, 440, 0.3)}));
        assertThatThrownBy(() -> Comparer.compare(a, b, DEFAULTS)).isInstanceOf(BadMediaException.class).hasMessageContaining("48000 Hz");
        Comparison comparison = Comparer.compare(a, b, COMMON);
        assertThat(comparison.notes()).hasSize(3).anyMatch(n -> n.contains("resampled to 32000 Hz")).anyMatch(n -> n.contains("1 channels")).anyMatch(n -> n.contains("first 24000"));
        assertThat(comparison.sound().orElseThrow().cosine()).isGreaterThan(0.999);
        assertThat(comparison.sound().orElseThrow().rms().joint()).isCloseTo(1, within(0.005));
    }

    @Test
    void aMissingSoundIsRefusedUnlessTheCommonPartWasAskedFor() throws IOException {
        Path a = ResultFolder.whole(folder.resolve("a"), 1, 0).resolve("clip.mp4");
        Path b = frames("b", ResultFolder.FRAMES, ResultFolder.WIDTH, ResultFolder.HEIGHT);
        assertThatThrownBy(() -> Comparer.compare(b, a, ENCODED)).isInstanceOf(BadMediaException.class).hasMessageContaining("Only the reference has sound");
    }

    @Test
    void anyTensorsAreComparedByNameAndHeldToTheLimitOfLatents() {
        Path a = tensors("a", "w", new float[] {1, 2, 3.3f}, 3);
        Path b = tensors("b", "w", new float[] {1, 2, 3}, 3);
        Comparison comparison = Comparer.compare(a, b, DEFAULTS);
        assertThat(comparison.verdict().lines()).extracting(GateLine::gate).containsExactly(Gate.TENSORS);
        assertThat(comparison.verdict().lines().getFirst().got()).isCloseTo(0.3 / Math.sqrt(14), within(1e-6));
        assertThat(comparison.verdict().passed()).isFalse();
        assertThat(Comparer.compare(a, a, BITWISE).verdict().passed()).isTrue();
        assertThatThrownBy(() -> Comparer.compare(a, tensors("c", "v", new float[3], 3), COMMON)).isInstanceOf(BadWeightsException.class);
        assertThatThrownBy(() -> Comparer.compare(a, tensors("d", "w", new float[3], 3, 1), DEFAULTS)).isInstanceOf(BadMediaException.class)
                .hasMessageContaining("[3]").hasMessageContaining("[3, 1]");
    }

    @Test
    void bitwiseCountsWhatDiffersInEveryPart() throws IOException {
        Path a = ResultFolder.whole(folder.resolve("a"), 1, 0);
        Path b = ResultFolder.whole(folder.resolve("b"), 1, 0);
        assertThat(Comparer.compare(a, b, BITWISE).verdict().lines()).last().satisfies(line -> {
            assertThat(line.gate()).isEqualTo(Gate.BITWISE);
            assertThat(line.got()).isZero();
        });
        Path frame = b.resolve("frames/frame-00003.png");
        RgbImage changed = Pictures.paint(ResultFolder.WIDTH, ResultFolder.HEIGHT, (x, y, c) -> ResultFolder.wave(3, 1).at(x, y, c) + (x == 5 && y == 5 ? 1 : 0));
        PngWriter.write(changed, frame);
        Verdict verdict = Comparer.compare(a, b, BITWISE).verdict();
        assertThat(verdict.passed()).isFalse();
        assertThat(verdict.lines()).last().extracting(GateLine::got).isEqualTo(3.0);
    }

    /** Field report 25: segments rounded up one by one drifted 0.7 s over a film. */
    @Test
    void fieldReport25SoundThatDriftsFromItsPicturesIsMeasuredInMilliseconds() throws IOException {
        Path a = folder.resolve("a");
        Path b = folder.resolve("b");
        Sound sound = noise();
        Sound late = new Sound(Sounds.RATE, new float[][] {shifted(sound.channel(0), 3200), shifted(sound.channel(1), 3200)});
        new ResultFolder(b, "clip").clip(t -> ResultFolder.wave(t, 1), sound).wav(sound);
        new ResultFolder(a, "clip").clip(t -> ResultFolder.wave(t, 1), late).wav(late);
        Comparison comparison = Comparer.compare(a, b, DEFAULTS);
        assertThat(comparison.sync().orElseThrow().worstDrift().orElseThrow()).isCloseTo(100, within(0.1));
        assertThat(comparison.warnings()).anyMatch(w -> w.equals("sound and pictures drift apart: the candidate's sound is up to 100 ms late"));
    }

    @Test
    void whatTheContainerDelaysCountsAsDrift() throws IOException, InterruptedException {
        Path b = folder.resolve("b.mp4");
        new ResultFolder(folder, "b").clip(t -> ResultFolder.wave(t, 1), noise());
        Path late = folder.resolve("late.mp4");
        Program.ffmpeg("-i", b.toString(), "-itsoffset", "0.2", "-i", b.toString(), "-map", "0:v", "-map", "1:a", "-c", "copy", late.toString());
        Comparison comparison = Comparer.compare(late, b, new ComparisonOptions(QualityGates.published(), true, true, false, false));
        assertThat(comparison.sync().orElseThrow().worstDrift().orElseThrow()).isCloseTo(200, within(1.0));
        // The same where samples and frames are those from before encoding: the clip says when they are heard and seen.
        Path a = ResultFolder.whole(folder.resolve("a"), 1, 0);
        Path c = ResultFolder.whole(folder.resolve("c"), 1, 0);
        Path clip = c.resolve("clip.mp4");
        Files.move(clip, folder.resolve("clip.mp4"));
        Program.ffmpeg("-i", folder.resolve("clip.mp4").toString(), "-itsoffset", "0.08", "-i", folder.resolve("clip.mp4").toString(), "-map", "0:v", "-map", "1:a", "-c", "copy",
                clip.toString());
        Comparison before = Comparer.compare(c, a, BITWISE);
        assertThat(before.sound().orElseThrow().candidateSource()).startsWith("samples of clip.wav");
        // Copying makes the encoder's priming, 1024 samples, part of the sound, which then begins that much earlier.
        assertThat(before.sync().orElseThrow().worstDrift().orElseThrow()).isCloseTo(80 - 32, within(1.0));
        Path ahead = folder.resolve("ahead.mp4");
        Program.ffmpeg("-itsoffset", "0.1", "-i", b.toString(), "-i", b.toString(), "-map", "0:v", "-map", "1:a", "-c", "copy", ahead.toString());
        Comparison other = Comparer.compare(ahead, b, ENCODED);
        assertThat(other.sync().orElseThrow().worstDrift().orElseThrow()).isCloseTo(-100, within(1.0));
        assertThat(other.sync().orElseThrow().candidateEnd().orElseThrow() - other.sync().orElseThrow().referenceEnd().orElseThrow()).isCloseTo(-100, within(1.0));
    }

    @Test
    void framesOfAContainerWithoutAnIndexAreCountedByReadingThem() throws IOException, InterruptedException {
        Path mp4 = folder.resolve("a.mp4");
        new ResultFolder(folder, "a").clip(t -> ResultFolder.wave(t, 1), noise());
        Path webm = folder.resolve("a.webm");
        Program.ffmpeg("-i", mp4.toString(), "-c:v", "libvpx-vp9", "-an", webm.toString());
        Path cut = folder.resolve("cut.webm");
        Program.ffmpeg("-i", mp4.toString(), "-c:v", "libvpx-vp9", "-an", "-frames:v", "20", cut.toString());
        assertThat(Comparer.compare(webm, webm, ENCODED).pictures().orElseThrow().metrics().frames()).isEqualTo(ResultFolder.FRAMES);
        assertThatThrownBy(() -> Comparer.compare(webm, cut, ENCODED)).isInstanceOf(BadMediaException.class).hasMessageContaining("The candidate has more frames than the other's 20");
    }

    private static Sound noise() {
        return new Sound(Sounds.RATE, new float[][] {Sounds.noise(ResultFolder.SAMPLES, 0.1, 1), Sounds.noise(ResultFolder.SAMPLES, 0.1, 2)});
    }

    /** Field report 7: blown, popping, clipped sound went unnoticed. */
    @Test
    void fieldReport7ClippingAndClicksOfTheCandidateAreWarnings() {
        float[] x = Sounds.tone(32_000, 200, 0.3);
        Path b = wav("b", Sounds.mono(x));
        Path a = wav("a", Sounds.mono(Sounds.samples(x.length, i -> i == 9000 ? -0.8 : i > 20_000 && i < 20_100 ? 1 : x[i])));
        assertThat(Comparer.compare(a, b, DEFAULTS).warnings()).anyMatch(w -> w.contains("clipped")).anyMatch(w -> w.contains("click") && w.contains("0.281 s"));
        assertThat(Comparer.compare(b, b, DEFAULTS).warnings()).isEmpty();
    }

    /** Field report 14: tiles decoded without blending, a visible grid. */
    @Test
    void fieldReport14SeamsAndFlashesOfTheCandidateAreWarningsAndTheReferencesOwnAreNot() {
        Path clean = frames("clean", 24, 96, 96, (t, image) -> image);
        Path seam = frames("seam", 24, 96, 96, (t, image) -> Pictures.paint(96, 96, (x, y, c) -> image.at(x, y, c) + (x < 48 ? 0 : 9)));
        Path flash = frames("flash", 24, 96, 96, (t, image) -> Pictures.paint(96, 96, (x, y, c) -> image.at(x, y, c) + (t == 9 ? 30 : 0)));
        assertThat(Comparer.compare(seam, clean, DEFAULTS).warnings()).anyMatch(w -> w.contains("tile seam") && w.contains("column 48"));
        assertThat(Comparer.compare(seam, seam, DEFAULTS).warnings()).isEmpty();
        assertThat(Comparer.compare(flash, clean, DEFAULTS).warnings()).anyMatch(w -> w.contains("single-frame flash") && w.contains("frame 9"));
        assertThat(Comparer.compare(clean, flash, DEFAULTS).warnings()).isEmpty();
    }

    /** Field report 16: residual values overflowed FP16: black video, NaN sound. */
    @Test
    void fieldReport16BlackFramesAndNaNsOfTheCandidateFailAndAreNamed() {
        Path clean = frames("clean", 6, 32, 32);
        Path black = frames("black", 6, 32, 32, (t, image) -> RgbImage.black(32, 32));
        Comparison dark = Comparer.compare(black, clean, DEFAULTS);
        assertThat(dark.verdict().passed()).isFalse();
        assertThat(dark.warnings()).contains("all frames of the candidate are the same");
        Comparison wrong = Comparer.compare(tensors("a", "audio_latents", new float[] {1, Float.NaN}, 2), tensors("b", "audio_latents", new float[] {1, 2}, 2), DEFAULTS);
        assertThat(wrong.verdict().lines()).extracting(GateLine::gate, GateLine::pass).containsExactly(tuple(Gate.AUDIO_LATENTS, false));
        assertThat(wrong.warnings()).containsExactly("tensor audio_latents: 1 of 2 values of the candidate are NaN or infinite");
    }

    /** Field report 5: video conditioned at the wrong speed because its rate was misread. */
    @Test
    void fieldReport5AnotherFrameRateIsRefusedByName() throws IOException {
        Path a = folder.resolve("a.mp4");
        Path b = folder.resolve("b.mp4");
        for (Path file : List.of(a, b)) {
            Mp4Format format = new Mp4Format(32, 32, 12, file.equals(a) ? 25 : 24, 32_000, Map.of());
            try (Mp4Writer writer = Mp4Writer.open(file, format)) {
                int samples = 32_000 * 12 / format.frameRate();
                writer.writeAudio(new float[samples], new float[samples]);
                for (int t = 0; t < 12; t++) {
                    writer.writeFrame(Pictures.waves(32, 32, t).rgb());
                }
                writer.commit();
            }
        }
        assertThatThrownBy(() -> Comparer.compare(a, b, DEFAULTS)).isInstanceOf(BadMediaException.class).hasMessageContaining("25.000 frames a second and the reference 24.000");
        assertThat(Comparer.compare(a, b, COMMON).notes()).anyMatch(note -> note.contains("frames were compared by number"));
    }

    @Test
    void whatCannotBeComparedIsNamed() throws IOException {
        Path text = Files.writeString(folder.resolve("notes.txt"), "not a clip");
        Path wav = wav("a", Sounds.mono(new float[100]));
        Path pictures = frames("p", 2, 16, 16);
        Path empty = Files.createDirectory(folder.resolve("empty"));
        assertThatThrownBy(() -> Comparer.compare(text, wav, DEFAULTS)).isInstanceOf(BadMediaException.class).hasMessageContaining("notes.txt");
        assertThatThrownBy(() -> Comparer.compare(folder.resolve("none"), wav, DEFAULTS)).isInstanceOf(BadMediaException.class).hasMessageContaining("does not exist");
        assertThatThrownBy(() -> Comparer.compare(empty, wav, DEFAULTS)).isInstanceOf(BadMediaException.class).hasMessageContaining("holds no clip");
        assertThatThrownBy(() -> Comparer.compare(pictures, wav, COMMON)).isInstanceOf(BadMediaException.class).hasMessageContaining("nothing of a kind");
    }

    @Test
    void severalClipsInAFolderAreRefusedUnlessOneIsCalledClip() throws IOException {
        Path results = folder.resolve("results");
        new ResultFolder(results, "one").clip(t -> ResultFolder.wave(t, 1), ResultFolder.sound(1, 0));
        new ResultFolder(results, "two").clip(t -> ResultFolder.wave(t, 2), ResultFolder.sound(2, 0));
        assertThatThrownBy(() -> SideFinder.find(results, false)).isInstanceOf(BadMediaException.class).hasMessageContaining("one.mp4, two.mp4");
        new ResultFolder(results, "clip").clip(t -> ResultFolder.wave(t, 1), ResultFolder.sound(1, 0));
        assertThat(SideFinder.find(results, false).clip()).contains(results.resolve("clip.mp4"));
    }

    @Test
    void keptFramesAreFirstMiddleLastAndTheWorst() {
        Path clean = frames("clean", 9, 32, 32, (t, image) -> image);
        Path bad = frames("bad", 9, 32, 32, (t, image) -> t == 6 ? Pictures.noisy(image, 20, 1) : image);
        List<KeptFrame> kept = Comparer.compare(bad, clean, DEFAULTS.withPictures()).pictures().orElseThrow().kept();
        assertThat(kept).extracting(KeptFrame::index).containsExactly(0, 4, 6, 8);
        assertThat(kept.get(2).reason()).isEqualTo("lowest PSNR, lowest SSIM");
        assertThat(Comparer.compare(bad, clean, DEFAULTS).pictures().orElseThrow().kept()).isEmpty();
    }

    @Test
    void aDamagedFrameInTheMiddleIsNamed() throws IOException {
        Path a = frames("a", 5, 32, 32);
        Path b = frames("b", 5, 32, 32);
        Files.writeString(a.resolve("frame-00003.png"), "broken");
        assertThatThrownBy(() -> Comparer.compare(a, b, DEFAULTS)).isInstanceOf(BadMediaException.class).hasMessageContaining("frame-00003.png");
    }

    private interface Change {
        RgbImage of(int t, RgbImage image);
    }

    private Path frames(String name, int count, int width, int height) {
        return frames(name, count, width, height, (t, image) -> image);
    }

    private Path frames(String name, int count, int width, int height, Change change) {
        for (int t = 0; t < count; t++) {
            PngWriter.write(change.of(t, Pictures.waves(width, height, 0.2 * t)), PngWriter.frameFile(folder.resolve(name), t));
        }
        return folder.resolve(name);
    }

    private Path wav(String name, Sound sound) {
        WavWriter.write(sound, folder.resolve(name + ".wav"));
        return folder.resolve(name + ".wav");
    }

    private Path tensors(String file, String name, float[] values, long... shape) {
        Path target = folder.resolve(file + ".safetensors");
        try (MemoryTensors tensors = MemoryTensors.builder("test").floats(name, values, shape).build()) {
            SafetensorsWriter.write(target, List.of(tensors.get(name)), Map.of());
        }
        return target;
    }

    private static float[] shifted(float[] x, int by) {
        return Sounds.samples(x.length, i -> i < by ? 0 : x[i - by]);
    }
}
