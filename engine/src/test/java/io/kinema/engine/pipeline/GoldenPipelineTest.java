package io.kinema.engine.pipeline;

import static org.assertj.core.api.Assertions.assertThat;

import io.kinema.compute.Backend;
import io.kinema.compute.Precision;
import io.kinema.compute.reference.ReferenceBackend;
import io.kinema.engine.Cancellation;
import io.kinema.engine.Geometries;
import io.kinema.engine.NoiseScheme;
import io.kinema.engine.ProgressListener;
import io.kinema.engine.Task;
import io.kinema.engine.layout.FrameCounts;
import io.kinema.engine.layout.Target;
import io.kinema.engine.model.ModelFolder;
import io.kinema.engine.model.ModelGeometry;
import io.kinema.engine.schedule.SigmaGrid;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** Whole requests on tiny random weights, against every value that the golden cases hold. */
class GoldenPipelineTest {
    private static final double FINAL = 1e-4;

    @Test
    void textToVideo() {
        check("t2va", 1234, "A small robot walks along the quiet shore. <d>Hello!</d>", 96, 64);
    }

    private static void check(String name, long seed, String prompt, int width, int height) {
        ModelFolder folder = ModelFolder.open(Geometries.TINY);
        ModelGeometry g = folder.geometry();
        int frames = 22;
        PipelineInput input = new PipelineInput(Task.T2VA, prompt,
                new Target(g.counts().videoLatents(frames), height / 16, width / 16, FrameCounts.audioLatents(frames)),
                g.latentChannels(), g.audioLatentChannels(), g.patch(), SigmaGrid.ofPoints(5, 12), SigmaGrid.ofPoints(5, 3), NoiseScheme.DIFFUSERS);
        Comparison tap = new Comparison(new GoldenTensors(Geometries.ROOT.resolve("testdata/goldens/pipeline").resolve(name)));
        Clock clock = new Clock(ProgressListener.NONE, new Cancellation());
        try (Backend backend = new ReferenceBackend();
                ModelParts parts = new ModelParts(folder, backend, Precision.FP32, Optional.empty());
                H3Pipeline pipeline = H3Pipeline.prepare(parts, input, clock, tap)) {
            pipeline.make(seed, clock, tap);
        }
        assertThat(tap.seen).contains("latents", "audio_latents", "prompt_embeds", "input_ids", "position_ids", "video_rows_0", "audio_rows_0");
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
                assertThat(GoldenTensors.relative(values, expected)).as(name).isLessThan(name.equals("prompt_embeds") ? 3e-5 : FINAL);
            });
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
