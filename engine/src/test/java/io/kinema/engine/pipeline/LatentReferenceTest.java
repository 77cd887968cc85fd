package io.kinema.engine.pipeline;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.kinema.engine.BadRequestException;
import io.kinema.engine.Geometries;
import io.kinema.engine.model.ModelGeometry;
import io.kinema.engine.preprocess.SavedLatents;
import io.kinema.weights.BadWeightsException;
import io.kinema.weights.MemoryTensors;
import io.kinema.weights.SafetensorsWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Latents of an earlier clip in place of a reference video. */
class LatentReferenceTest {
    private static final ModelGeometry NANO = Geometries.nano();

    @TempDir
    private Path folder;

    private Path file(long[] video, long[] sound, float first) {
        float[] frames = counted(video);
        frames[0] = first;
        Path path = folder.resolve("clip.safetensors");
        try (MemoryTensors tensors = MemoryTensors.builder("test").floats("latents", frames, video).floats("audio_latents", counted(sound), sound).build()) {
            SafetensorsWriter.write(path, List.of(tensors.get("latents"), tensors.get("audio_latents")), Map.of());
        }
        return path;
    }

    private static float[] counted(long[] shape) {
        int n = 1;
        for (long size : shape) {
            n *= (int) size;
        }
        float[] values = new float[n];
        for (int i = 0; i < n; i++) {
            values[i] = i;
        }
        return values;
    }

    @Test
    void readsEveryValue() {
        SavedLatents read = SavedLatents.read(file(new long[] {1, 24, 7, 4, 6}, new long[] {2, 32, 37}, 0), NANO);
        assertThat(read.video()).isEqualTo(counted(new long[] {24, 7, 4, 6}));
        assertThat(read.sound()).isEqualTo(counted(new long[] {2, 32, 37}));
        assertThat(read.shape().frames()).isEqualTo(7);
        assertThat(read.cut(100, 100).video()).isEqualTo(read.video());
    }

    @Test
    void isCutToTheFirstFramesOfTheClip() {
        SavedLatents cut = SavedLatents.read(file(new long[] {1, 24, 12, 2, 2}, new long[] {2, 32, 65}, 0), NANO).cut(7, 37);
        assertThat(cut.shape().frames()).isEqualTo(7);
        assertThat(cut.video()).hasSize(24 * 7 * 4).startsWith(0, 1, 2, 3).endsWith(23 * 48 + 24, 23 * 48 + 25, 23 * 48 + 26, 23 * 48 + 27);
        assertThat(cut.sound()).hasSize(2 * 32 * 37).startsWith(0, 1).endsWith(63 * 65 + 36);
        assertThat(Rows.toAudioLatents(Rows.toAudioRows(cut.sound(), 37, 32), 37, 32)).isEqualTo(cut.sound());
    }

    @Test
    void refusesLatentsOfAnotherModel() {
        for (long[] video : List.of(new long[] {1, 8, 7, 4, 4}, new long[] {1, 24, 6, 4, 4}, new long[] {1, 24, 2, 4, 4}, new long[] {1, 24, 7, 3, 4},
                new long[] {2, 24, 7, 4, 4})) {
            Path path = file(video, new long[] {2, 32, 37}, 0);
            assertThatExceptionOfType(BadRequestException.class).isThrownBy(() -> SavedLatents.header(path, NANO))
                    .withMessageContaining("expected [1, 24, 5n + 2, 2h, 2w]");
        }
        Path path = file(new long[] {1, 24, 7, 4, 4}, new long[] {1, 32, 37}, 0);
        assertThatExceptionOfType(BadRequestException.class).isThrownBy(() -> SavedLatents.header(path, NANO)).withMessageContaining("expected [2, 32, n]");
    }

    @Test
    void refusesWhatIsNotFinite() {
        Path path = file(new long[] {1, 24, 7, 4, 4}, new long[] {2, 32, 37}, Float.NaN);
        assertThatExceptionOfType(BadRequestException.class).isThrownBy(() -> SavedLatents.read(path, NANO)).withMessageContaining("NaN");
    }

    @Test
    void refusesAFileOfAnotherKind() throws Exception {
        Path text = Files.writeString(folder.resolve("a.txt"), "not latents");
        assertThatExceptionOfType(BadWeightsException.class).isThrownBy(() -> SavedLatents.header(text, NANO));
        Path weights = Geometries.NANO.resolve("vae/diffusion_pytorch_model.safetensors");
        assertThatExceptionOfType(BadRequestException.class).isThrownBy(() -> SavedLatents.header(weights, NANO)).withMessageContaining("without a tensor 'latents'");
    }
}
