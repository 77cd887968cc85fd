package io.kinema.engine;

import io.kinema.engine.layout.FrameCounts;
import io.kinema.engine.record.ProvenanceTags;
import io.kinema.engine.record.RunRecord;
import io.kinema.media.audio.Sound;
import io.kinema.media.audio.WavWriter;
import io.kinema.media.file.AtomicFile;
import io.kinema.media.image.PngWriter;
import io.kinema.media.image.RgbImage;
import io.kinema.media.video.Mp4Format;
import io.kinema.media.video.Mp4Writer;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * A finished clip: frames, sound, the latents they were decoded from and the record of its making. It lives on the Java heap,
 * needs no closing and outlives its engine. Safe for use by several threads.
 */
public final class Clip {
    private final int width;
    private final int height;
    private final List<byte[]> frames;
    private final float[] left;
    private final float[] right;
    private final int sampleRate;
    private final Latents latents;
    private final RunRecord record;

    Clip(int width, int height, List<byte[]> frames, float[] left, float[] right, int sampleRate, Latents latents, RunRecord record) {
        this.width = width;
        this.height = height;
        this.frames = List.copyOf(frames);
        this.left = left;
        this.right = right;
        this.sampleRate = sampleRate;
        this.latents = latents;
        this.record = record;
    }

    /** Columns of a frame. */
    public int width() {
        return width;
    }

    /** Rows of a frame. */
    public int height() {
        return height;
    }

    /** Number of frames, at 24 a second. */
    public int frameCount() {
        return frames.size();
    }

    /** A copy of frame {@code index}: bytes in the order row, column, red-green-blue. */
    public byte[] frame(int index) {
        return frames.get(index).clone();
    }

    /** A copy of the left channel, samples in [-1, 1]. */
    public float[] left() {
        return left.clone();
    }

    /** A copy of the right channel, samples in [-1, 1]. */
    public float[] right() {
        return right.clone();
    }

    /** Samples a second of each channel. */
    public int sampleRate() {
        return sampleRate;
    }

    /** The final latents. */
    public Latents latents() {
        return latents;
    }

    /** How the clip came to be. */
    public RunRecord record() {
        return record;
    }

    /** {@link #writeMp4(Path, Provenance)} with its provenance. */
    public void writeMp4(Path file) {
        writeMp4(file, Provenance.WRITTEN);
    }

    /**
     * Writes H.264 (yuv420p, 24 frames a second) and stereo AAC as an MP4 file whose index stands in front. The same clip gives
     * the same bytes. The file appears whole or not at all; an existing one is replaced.
     *
     * @param provenance whether the file says how it was made ({@link io.kinema.engine.record.ProvenanceTags})
     * @throws io.kinema.media.BadMediaException when it cannot be written there
     */
    public void writeMp4(Path file, Provenance provenance) {
        Map<String, String> tags = switch (provenance) {
            case WRITTEN -> ProvenanceTags.of(record);
            case LEFT_OUT -> Map.of();
        };
        Mp4Format format = new Mp4Format(width, height, frames.size(), FrameCounts.FPS, sampleRate, tags);
        try (Mp4Writer writer = Mp4Writer.open(file, format)) {
            writer.writeAudio(left, right);
            frames.forEach(writer::writeFrame);
            writer.commit();
        }
    }

    /** Writes the sound as 16-bit stereo WAV. @throws io.kinema.media.BadMediaException when it cannot be written there */
    public void writeWav(Path file) {
        WavWriter.write(new Sound(sampleRate, new float[][] {left, right}), file);
    }

    /**
     * Writes every frame as PNG, {@code frame-00000.png} and on; the folder is made when it is missing.
     *
     * @throws io.kinema.media.BadMediaException when one cannot be written there
     */
    public void writeFrames(Path folder) {
        for (int i = 0; i < frames.size(); i++) {
            PngWriter.write(new RgbImage(width, height, frames.get(i)), PngWriter.frameFile(folder, i));
        }
    }

    /** Writes {@link #record()} as JSON. @throws io.kinema.media.BadMediaException when it cannot be written there */
    public void writeRecord(Path file) {
        try (AtomicFile target = AtomicFile.create(file)) {
            ByteBuffer text = ByteBuffer.wrap(record.toText().getBytes(StandardCharsets.UTF_8));
            while (text.hasRemaining()) {
                try {
                    target.channel().write(text);
                } catch (IOException e) {
                    throw target.failure(e);
                }
            }
            target.commit();
        }
    }

    /**
     * Writes the final, normalised latents as safetensors: {@code latents} (1, C, T, H, W) and {@code audio_latents} (2, C, T),
     * both F32, with the record's seed and model hash among its metadata.
     */
    public void saveLatents(Path file) {
        LatentsFile.write(this, file);
    }
}
