package io.kinema.serve;

import static org.assertj.core.api.Assertions.assertThat;

import io.kinema.engine.StepSaving;
import io.kinema.jobs.JobFiles;
import io.kinema.jobs.JobId;
import io.kinema.jobs.JobLimits;
import io.kinema.jobs.OutputFile;
import io.kinema.media.image.ImageLimits;
import io.kinema.media.image.ImageReader;
import io.kinema.media.image.PngWriter;
import io.kinema.media.image.RgbImage;
import io.kinema.weights.MemoryTensors;
import io.kinema.weights.SafetensorsWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The picture of a clip that is being made. */
class PreviewTest {
    private static final int CHANNELS = 4;
    private static final int SIDE = 6;

    @TempDir
    private Path folder;

    /** Finished clips whose first latent channel is their red: that is learned, and shown of the clip in progress. */
    @Test
    void aSavedStepIsShownInTheColoursOfFinishedClips() throws IOException, InterruptedException {
        try (TestServer server = TestServer.start(folder, JobLimits.defaults(), (job, output, files) -> {
            float red = job.request().generate().prompt().length() / 10f;
            latents(files.get(OutputFile.LATENTS), "latents", red, 1, CHANNELS, 3, SIDE, SIDE);
            PngWriter.write(solid(Math.round(255 * red)), files.get(OutputFile.THUMBNAIL));
            Files.writeString(files.get(OutputFile.VIDEO), "x");
        })) {
            String id = server.post("/v1/videos", "{\"prompt\":\"x\"}").json().path("id").asText();
            server.finished(id);
            assertThat(server.get("/v1/videos/" + id + "/preview").status()).as("no step is saved").isEqualTo(404);
            server.finished(server.post("/v1/videos", "{\"prompt\":\"xxxxxxxxxx\"}").json().path("id").asText());

            Path steps = folder.resolve("steps.safetensors");
            latents(steps, StepSaving.ESTIMATE, 0.5f, CHANNELS, SIDE, SIDE);
            server.storage().put(JobFiles.steps(JobId.parse(id).orElseThrow()), steps);
            TestServer.Answer preview = server.get("/v1/videos/" + id + "/preview");
            assertThat(preview.header("Content-Type")).isEqualTo("image/png");
            RgbImage picture = ImageReader.decode(preview.response().body(), "preview", ImageLimits.DEFAULT);
            assertThat(picture.width()).isEqualTo(8 * SIDE);
            assertThat(picture.at(20, 20, 0)).isBetween(118, 137);
            assertThat(picture.at(20, 20, 1)).isLessThan(10);
            assertThat(server.leftInStaging()).isEmpty();
        }
    }

    private static RgbImage solid(int red) {
        byte[] rgb = new byte[32 * 32 * 3];
        for (int i = 0; i < rgb.length; i += 3) {
            rgb[i] = (byte) red;
        }
        return new RgbImage(32, 32, rgb);
    }

    private static void latents(Path file, String name, float first, long... shape) {
        int elements = 1;
        for (long size : shape) {
            elements *= (int) size;
        }
        float[] values = new float[elements];
        java.util.Arrays.fill(values, 0, elements / CHANNELS, first);
        try (MemoryTensors tensors = MemoryTensors.builder("test").floats(name, values, shape).build()) {
            SafetensorsWriter.write(file, List.of(tensors.get(name)), Map.of());
        }
    }
}
