package io.kinema.quality.compare;

import io.kinema.media.audio.Sound;
import io.kinema.media.audio.WavWriter;
import io.kinema.media.image.PngWriter;
import io.kinema.media.image.RgbImage;
import io.kinema.media.video.Mp4Format;
import io.kinema.media.video.Mp4Writer;
import io.kinema.quality.picture.Pictures;
import io.kinema.quality.sound.Sounds;
import io.kinema.weights.MemoryTensors;
import io.kinema.weights.SafetensorsWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.IntFunction;

/** Results as a generation leaves them, made by formula. */
public final class ResultFolder {
    public static final int FRAMES = 24;
    public static final int WIDTH = 64;
    public static final int HEIGHT = 48;
    public static final int SAMPLES = 32_000;
    private static final String MODEL = "0123";

    private final Path folder;
    private final String stem;

    public ResultFolder(Path folder, String stem) throws IOException {
        this.folder = Files.createDirectories(folder);
        this.stem = stem;
    }

    /** Clip, record, WAV, frames and latents, all alike for one {@code seed}; {@code noise} makes them differ a little. */
    public static Path whole(Path folder, long seed, double noise) throws IOException {
        ResultFolder result = new ResultFolder(folder, "clip");
        IntFunction<RgbImage> frames = t -> Pictures.noisy(wave(t, seed), noise, t);
        Sound sound = sound(seed, noise);
        result.clip(frames, sound).record(seed).wav(sound).frames("frames", frames).latents(seed, noise / 1000);
        return folder;
    }

    public static RgbImage wave(int t, long seed) {
        return Pictures.waves(WIDTH, HEIGHT, 0.5 * t + seed);
    }

    public static Sound sound(long seed, double noise) {
        float[] hiss = Sounds.noise(SAMPLES, 0.0002 * noise, seed);
        float[] left = Sounds.samples(SAMPLES, i -> 0.3 * Math.sin(0.05 * i + 1e-6 * i * i) + hiss[i]);
        float[] right = Sounds.samples(SAMPLES, i -> 0.2 * Math.sin(0.031 * i + seed) + hiss[i]);
        return new Sound(Sounds.RATE, new float[][] {left, right});
    }

    public ResultFolder clip(IntFunction<RgbImage> frames, Sound sound) {
        try (Mp4Writer writer = Mp4Writer.open(folder.resolve(stem + ".mp4"), Mp4Format.of(WIDTH, HEIGHT, FRAMES))) {
            writer.writeAudio(sound.channel(0), sound.channel(1));
            for (int t = 0; t < FRAMES; t++) {
                writer.writeFrame(frames.apply(t).rgb());
            }
            writer.commit();
        }
        return this;
    }

    public ResultFolder record(long seed) throws IOException {
        Files.writeString(folder.resolve(stem + ".json"), "{\"schema\": \"kinema.run/1\", \"output\": {\"seed\": " + seed + "}, \"model\": {\"sha256\": \"" + MODEL + "\"}}");
        return this;
    }

    public ResultFolder wav(Sound sound) {
        WavWriter.write(sound, folder.resolve(stem + ".wav"));
        return this;
    }

    public ResultFolder frames(String name, IntFunction<RgbImage> frames) {
        for (int t = 0; t < FRAMES; t++) {
            PngWriter.write(frames.apply(t), PngWriter.frameFile(folder.resolve(name), t));
        }
        return this;
    }

    public ResultFolder latents(long seed, double noise) {
        Random random = new Random(7);
        Random hiss = new Random(seed);
        float[] video = new float[480];
        float[] audio = new float[60];
        for (int i = 0; i < video.length; i++) {
            video[i] = (float) (random.nextGaussian() + noise * hiss.nextGaussian());
        }
        for (int i = 0; i < audio.length; i++) {
            audio[i] = (float) (random.nextGaussian() + noise * hiss.nextGaussian());
        }
        try (MemoryTensors tensors = MemoryTensors.builder("test").floats("latents", video, 1, 4, 5, 4, 6).floats("audio_latents", audio, 2, 5, 6).build()) {
            SafetensorsWriter.write(folder.resolve(stem + ".safetensors"), List.of(tensors.get("latents"), tensors.get("audio_latents")),
                    Map.of("seed", Long.toString(seed), "model_sha256", MODEL));
        }
        return this;
    }
}
