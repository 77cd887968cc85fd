package io.kinema.model.video;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import io.kinema.compute.Backend;
import io.kinema.compute.Tensor;
import io.kinema.compute.Workspace;
import io.kinema.compute.cpu.CpuBackend;
import io.kinema.compute.reference.ReferenceBackend;
import io.kinema.model.GoldenCase;
import io.kinema.weights.Checkpoint;
import io.kinema.weights.SafetensorsFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The video VAE against numbers of the reference implementation. */
class VideoVaeGoldenTest {
    static Stream<Path> all() throws IOException {
        return cases(GoldenCase.full().orElse(GoldenCase.bundled()), "");
    }

    /** The scalar backend takes a minute for a clip's convolutions, so that it encodes only in long runs. */
    static Stream<Path> decodes() throws IOException {
        return cases(GoldenCase.bundled(), "decode");
    }

    private static Stream<Path> cases(Path root, String prefix) throws IOException {
        try (Stream<Path> folders = Files.list(root.resolve("video_vae"))) {
            return folders.filter(f -> f.getFileName().toString().startsWith(prefix)).sorted().toList().stream();
        }
    }

    @ParameterizedTest
    @MethodSource("all")
    void cpuCasesReproduceTheReference(Path folder) {
        check(folder, CpuBackend.open(2));
    }

    @ParameterizedTest
    @MethodSource("decodes")
    void scalarDecodesReproduceTheReference(Path folder) {
        check(folder, new ReferenceBackend());
    }

    @Tag("long")
    @ParameterizedTest
    @MethodSource("all")
    void scalarCasesReproduceTheReference(Path folder) {
        check(folder, new ReferenceBackend());
    }

    private static void check(Path folder, Backend owned) {
        try (Backend backend = owned;
             GoldenCase golden = GoldenCase.open(folder.getParent(), folder.getFileName().toString());
             Checkpoint source = Checkpoint.open(golden.weights());
             VideoVae vae = VideoVae.open(backend, source, VideoVaeConfig.read(GoldenCase.json(golden.weights().resolve("config.json"))));
             Workspace memory = backend.workspace("test")) {
            JsonNode check = golden.check("fp32").orElseThrow();
            Map<String, Double> stages = new LinkedHashMap<>();
            CodingOptions options = CodingOptions.RELEASED.withTiling(tiling(check.get("args"))).withTap(golden.measuring(check, stages));
            if (check.get("op").asText().equals("encode")) {
                checkEncode(golden, check, backend, vae, options, memory);
            } else {
                checkDecode(golden, check, backend, vae, options, memory);
            }
            assertThat(stages.keySet()).hasSize(check.path("stages").size());
            assertThat(stages).allSatisfy((name, difference) -> assertThat(difference).isLessThan(1e-5));
        }
    }

    private static Tiling tiling(JsonNode args) {
        return new Tiling(args.get("tile_min_height").asInt(), args.get("tile_min_width").asInt(),
                args.get("tile_min_overlap_height").asInt(), args.get("tile_min_overlap_width").asInt());
    }

    private static void checkEncode(GoldenCase golden, JsonNode check, Backend backend, VideoVae vae, CodingOptions options, Workspace memory) {
        Tensor frames = golden.input(check, "frames");
        byte[] bytes = bytes(frames);
        int picture = frames.size(1) * frames.size(2) * 3;
        FrameSource source = ImageNetPixels.source(backend, frames.size(0), frames.size(1), frames.size(2),
                i -> Arrays.copyOfRange(bytes, i * picture, (i + 1) * picture));
        Tensor moments = vae.encode(source, options, memory);
        golden.assertOutput(check, "moments", moments);
        DiagonalPosterior posterior = DiagonalPosterior.of(moments.toFloats());
        int latents = posterior.mean().length;
        int plane = latents / vae.config().latentChannels();
        float[] noise = noise42(latents);
        golden.assertOutput(check, "sample", Tensor.ofFloats(posterior.sample(noise), latents));
        golden.assertOutput(check, "condition_latents",
                Tensor.ofFloats(posterior.conditionLatents(noise, vae.config().statistics(), plane), latents));
    }

    /** The start of a long draw of seed 42; whole blocks of 16 do not depend on a draw's length. */
    private static float[] noise42(int n) {
        assertThat(n % 16).isZero();
        try (SafetensorsFile file = SafetensorsFile.open(GoldenCase.bundled().resolve("rng/streams/randn.safetensors"))) {
            var draw = file.get("f32_seed42_n4099");
            float[] values = Tensor.of(draw.dtype(), draw.shape(), draw.data(), io.kinema.compute.Device.CPU).toFloats();
            return Arrays.copyOf(values, n);
        }
    }

    private static void checkDecode(GoldenCase golden, JsonNode check, Backend backend, VideoVae vae, CodingOptions options, Workspace memory) {
        Tensor latents = golden.input(check, "latents").select(0, 0);
        Tensor video = vae.decode(latents, options, memory);
        assertThat(video.size(1)).isEqualTo(check.at("/value/output_frames").asInt());
        assertFrameMeans(video, check.at("/value/frame_means"));
        for (JsonNode out : List.of(check.at("/out/video"), check.at("/out/frames_u8"))) {
            assertThat(out.at("/select/row_column_step").asInt()).isPositive();
        }
        Tensor selected = selected(backend, memory, video, check.at("/out/video/select"));
        golden.assertOutput(check, "video", selected);
        assertBytes(golden.tensor(check.at("/out/frames_u8/at").asText()), selected, check.at("/out/frames_u8/limit").asInt());
    }

    private static void assertFrameMeans(Tensor video, JsonNode means) {
        for (int t = 0; t < video.size(1); t++) {
            double sum = 0;
            float[] values = video.select(1, t).toFloats();
            for (float v : values) {
                sum += v;
            }
            assertThat(sum / values.length).as("mean of frame %d", t).isCloseTo(means.get(t).asDouble(), within(1e-5));
        }
    }

    /** The frames, and every n-th row and column of them, that the case kept. */
    private static Tensor selected(Backend backend, Workspace memory, Tensor video, JsonNode select) {
        List<Integer> frames = StreamSupport.stream(select.get("frames").spliterator(), false).map(JsonNode::asInt).toList();
        int step = select.get("row_column_step").asInt();
        int height = Math.ceilDiv(video.size(2), step);
        int width = Math.ceilDiv(video.size(3), step);
        Tensor out = memory.f32(3, frames.size(), height, width);
        for (int i = 0; i < frames.size(); i++) {
            for (int y = 0; y < height; y++) {
                for (int x = 0; x < width; x++) {
                    backend.copy(video.select(1, frames.get(i)).select(1, (long) y * step).select(1, (long) x * step),
                            out.select(1, i).select(1, y).select(1, x));
                }
            }
        }
        return out;
    }

    private static void assertBytes(Tensor expected, Tensor frames, int limit) {
        int picture = expected.size(1) * expected.size(2) * 3;
        byte[] want = bytes(expected);
        List<Integer> differences = new ArrayList<>();
        for (int t = 0; t < expected.size(0); t++) {
            byte[] rgb = new byte[picture];
            ImageNetPixels.toBytes(frames.select(1, t), rgb);
            for (int i = 0; i < picture; i++) {
                differences.add(Math.abs(Byte.toUnsignedInt(rgb[i]) - Byte.toUnsignedInt(want[t * picture + i])));
            }
        }
        assertThat(differences).allMatch(d -> d <= limit);
        assertThat(differences.stream().mapToInt(d -> d).average().orElseThrow()).isLessThan(0.01);
    }

    private static byte[] bytes(Tensor t) {
        return t.data().asSlice(0, t.elements()).toArray(java.lang.foreign.ValueLayout.JAVA_BYTE);
    }
}
