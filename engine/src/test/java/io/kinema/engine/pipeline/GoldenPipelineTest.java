package io.kinema.engine.pipeline;

import static org.assertj.core.api.Assertions.assertThat;

import io.kinema.compute.Backend;
import io.kinema.compute.Precision;
import io.kinema.compute.cpu.CpuBackend;
import io.kinema.engine.Cancellation;
import io.kinema.engine.GenerateRequest;
import io.kinema.engine.Geometries;
import io.kinema.engine.GraphReplay;
import io.kinema.engine.ProgressListener;
import io.kinema.engine.Reference;
import io.kinema.engine.model.ModelFolder;
import io.kinema.engine.model.ModelGeometry;
import io.kinema.engine.plan.PictureSizes;
import io.kinema.engine.plan.RequestResolver;
import io.kinema.engine.plan.ResolvedRequest;
import io.kinema.media.image.ImageReader;
import io.kinema.media.image.RgbImage;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** Whole requests on tiny random weights, against every value that the golden cases hold. */
class GoldenPipelineTest {
    private static final double FINAL = 1e-4;

    @Test
    void textToVideo() {
        Set<String> seen = check("t2va", 1234, request("A small robot walks along the quiet shore. <d>Hello!</d>").size(96, 64));
        assertThat(seen).contains("audio", "frames_u8", "velocity_0", "video_rows_4");
    }

    @Test
    void firstKeyframe() {
        Set<String> seen = check("fl2va_first", 7, request("The robot stops and looks up.").size(96, 64)
                .image(folder("fl2va_first").resolve("image.png")));
        assertThat(seen).contains("keyframe_on_canvas_0", "condition_latents_0");
    }

    @Test
    void lastKeyframe() {
        GenerateRequest.Builder request = request("It ends here.").size(32, 64).lastImage(folder("fl2va_last").resolve("last_image.png"));
        check("fl2va_last", 9, request);
    }

    @Test
    void bothKeyframesDecideTheCanvas() {
        Set<String> seen = check("fl2va_both", 8, request("A walk from the first picture to the last.")
                .image(folder("fl2va_both").resolve("image.png")).lastImage(folder("fl2va_both").resolve("last_image.png")));
        assertThat(seen).contains("keyframe_on_canvas_1", "condition_latents_1");
    }

    @Test
    void aReferencePicture() {
        Set<String> seen = check("ref2va_image", 10, request("The cat sits on a red chair.").size(64, 64)
                .reference(new Reference.Image(folder("ref2va_image").resolve("reference.png"))));
        assertThat(seen).contains("normalized_reference_0_image", "condition_latents_0");
    }

    private static GenerateRequest.Builder request(String prompt) {
        return GenerateRequest.prompt(prompt).frames(22).steps(4);
    }

    private static Path folder(String name) {
        return Geometries.ROOT.resolve("testdata/goldens/pipeline").resolve(name);
    }

    /** Runs the request as an engine would, with the case's canvas rule and without a shortest duration. */
    private static Set<String> check(String name, long seed, GenerateRequest.Builder request) {
        ModelFolder model = ModelFolder.open(Geometries.TINY);
        ModelGeometry geometry = model.geometry().withCanvas(64, 7168, 64).withMinSeconds(0);
        ResolvedRequest resolved = new RequestResolver(geometry, file -> {
            RgbImage picture = ImageReader.read(file);
            return new PictureSizes.Size(picture.width(), picture.height());
        }).resolve(request.build());
        Comparison tap = new Comparison(new GoldenTensors(folder(name)));
        Clock clock = new Clock(ProgressListener.NONE, new Cancellation());
        try (Backend backend = CpuBackend.open(2);
                ModelParts parts = new ModelParts(model, backend, Precision.FP32, Optional.empty(), Optional.empty());
                H3Pipeline pipeline = H3Pipeline.prepare(parts, PipelineInput.of(resolved, geometry), clock, tap, GraphReplay.OFF)) {
            pipeline.make(seed, clock, tap);
        }
        assertThat(tap.seen).contains("latents", "audio_latents", "prompt_embeds", "input_ids", "text_token_tags", "position_ids", "token_tags",
                "video_indices", "audio_indices", "text_indices", "video_rows_0", "audio_rows_0");
        return tap.seen;
    }

    /** Compares what it sees with the case's tensors of the same name. */
    private static final class Comparison implements PipelineTap {
        private final GoldenTensors golden;
        private final Set<String> seen = new TreeSet<>();

        Comparison(GoldenTensors golden) {
            this.golden = golden;
        }

        @Override
        public void floats(String name, float[] values, long... shape) {
            golden.find(name).filter(expected -> expected.length == values.length).ifPresent(expected -> {
                seen.add(name);
                assertThat(GoldenTensors.relative(values, expected)).as(name).isLessThan(limit(name));
            });
        }

        /** The cases' own limits. */
        private static double limit(String name) {
            return name.equals("prompt_embeds") ? 3e-5 : name.startsWith("condition_latents") ? 1e-3 : FINAL;
        }

        @Override
        public void doubles(String name, double[] values, long... shape) {
            golden.find(name).ifPresent(expected -> {
                seen.add(name);
                for (int i = 0; i < values.length; i++) {
                    assertThat((float) values[i]).as(name).isEqualTo(expected[i]);
                }
            });
        }

        @Override
        public void ints(String name, int[] values, long... shape) {
            golden.find(name).ifPresent(expected -> {
                seen.add(name);
                for (int i = 0; i < values.length; i++) {
                    assertThat((float) values[i]).as(name).isEqualTo(expected[i]);
                }
            });
        }

        @Override
        public void bytes(String name, byte[] values, long... shape) {
            golden.find(name).filter(expected -> expected.length == values.length).ifPresent(expected -> {
                seen.add(name);
                for (int i = 0; i < values.length; i++) {
                    assertThat(Math.abs(Byte.toUnsignedInt(values[i]) - expected[i])).as(name).isLessThanOrEqualTo(1);
                }
            });
        }
    }
}
