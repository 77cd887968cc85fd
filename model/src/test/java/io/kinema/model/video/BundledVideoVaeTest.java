package io.kinema.model.video;

import static org.assertj.core.api.Assertions.assertThat;

import io.kinema.compute.Backend;
import io.kinema.compute.Tensor;
import io.kinema.compute.Workspace;
import io.kinema.compute.cpu.CpuBackend;
import io.kinema.model.GoldenCase;
import io.kinema.weights.Checkpoint;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The trained VAE that ships with the project, on pictures it must be able to draw. */
class BundledVideoVaeTest {
    private static final int HEIGHT = 256;
    private static final int WIDTH = 320;

    private static Backend backend;
    private static Checkpoint source;
    private static VideoVae vae;
    private static Workspace memory;

    @BeforeAll
    static void open() {
        Path folder = Path.of(System.getProperty("kinema.root")).resolve("models/h3-nano/vae");
        backend = CpuBackend.open(2);
        source = Checkpoint.open(folder);
        vae = VideoVae.open(backend, source, VideoVaeConfig.read(GoldenCase.json(folder.resolve("config.json"))));
        memory = backend.workspace("test");
    }

    @AfterAll
    static void close() {
        memory.close();
        vae.close();
        source.close();
        backend.close();
    }

    /** Red rises to the right, green downwards, blue is constant. */
    private static byte[] gradient(int index) {
        byte[] rgb = new byte[3 * HEIGHT * WIDTH];
        for (int i = 0; i < HEIGHT * WIDTH; i++) {
            rgb[3 * i] = (byte) Math.round(76 + 102.0 * (i % WIDTH) / WIDTH);
            rgb[3 * i + 1] = (byte) Math.round(76 + 102.0 * (i / WIDTH) / HEIGHT);
            rgb[3 * i + 2] = (byte) 128;
        }
        return rgb;
    }

    /** Field report 14: one tile and many tiles agree where the content is smooth. */
    @Test
    void oneTileAndManyTilesAgreeAbove45dBOnSmoothContent() {
        Tensor picture = vae.encode(ImageNetPixels.source(backend, 1, HEIGHT, WIDTH, BundledVideoVaeTest::gradient), CodingOptions.RELEASED, memory);
        Tensor latents = memory.f32(vae.config().latentChannels(), 3, picture.size(2), picture.size(3));
        for (int t = 0; t < 3; t++) {
            backend.copy(picture.slice(0, 0, latents.size(0)), latents.slice(1, t, t + 1));
        }
        Tensor many = vae.decode(latents, CodingOptions.RELEASED, memory);
        Tensor one = vae.decode(latents, CodingOptions.RELEASED.withTiling(Tiling.WHOLE), memory);
        assertThat(TileGrid.cover(HEIGHT, WIDTH, Tiling.RELEASED, vae.config().spatialRatio()).count()).isGreaterThan(1);
        assertThat(psnr(one, many)).isGreaterThan(45);
        assertThat(psnr(one.slice(1, 0, 1), pictures(1))).as("against the picture itself").isGreaterThan(30);
    }

    @Test
    void theThreadCountDoesNotChangeABit() {
        Tensor latents = memory.f32(vae.config().latentChannels(), 3, 6, 5);
        for (int i = 0; i < latents.elements(); i++) {
            latents.data().setAtIndex(java.lang.foreign.ValueLayout.JAVA_FLOAT, i, (float) Math.sin(i * 0.7));
        }
        float[] two = vae.decode(latents, CodingOptions.RELEASED, memory).toFloats();
        try (Backend other = CpuBackend.open(1); VideoVae same = VideoVae.open(other, source, vae.config()); Workspace ws = other.workspace("one thread")) {
            assertThat(same.decode(latents, CodingOptions.RELEASED, ws).toFloats()).isEqualTo(two);
        }
    }

    private static Tensor pictures(int count) {
        Tensor frames = memory.f32(3, count, HEIGHT, WIDTH);
        ImageNetPixels.source(backend, count, HEIGHT, WIDTH, BundledVideoVaeTest::gradient).read(0, frames);
        return frames;
    }

    private static double psnr(Tensor a, Tensor b) {
        float[] x = a.toFloats();
        float[] y = b.toFloats();
        int channel = x.length / 3;
        double squared = 0;
        for (int i = 0; i < x.length; i++) {
            int difference = ImageNetPixels.level(x[i], i / channel) - ImageNetPixels.level(y[i], i / channel);
            squared += difference * difference;
        }
        return 10 * Math.log10(255.0 * 255.0 / (squared / x.length + 1e-9));
    }
}
