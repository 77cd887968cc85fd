package io.kinema.engine.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.kinema.compute.Backend;
import io.kinema.compute.Precision;
import io.kinema.compute.cpu.CpuBackend;
import io.kinema.engine.Cancellation;
import io.kinema.engine.GenerateRequest;
import io.kinema.engine.Geometries;
import io.kinema.engine.GraphReplay;
import io.kinema.engine.ProgressListener;
import io.kinema.engine.Reference;
import io.kinema.engine.Task;
import io.kinema.engine.golden.GoldenCase;
import io.kinema.engine.pipeline.Clock;
import io.kinema.engine.pipeline.H3Pipeline;
import io.kinema.engine.pipeline.ModelParts;
import io.kinema.engine.pipeline.PipelineInput;
import io.kinema.engine.pipeline.PipelineTap;
import io.kinema.engine.plan.PictureSizes;
import io.kinema.engine.plan.RequestResolver;
import io.kinema.engine.plan.ResolvedRequest;
import io.kinema.engine.verify.CheckResult;
import io.kinema.engine.verify.Verifier;
import io.kinema.engine.verify.VerifyOptions;
import io.kinema.model.layout.WeightLayout;
import io.kinema.weights.StoredTensor;
import io.kinema.weights.TensorSource;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** One set of weights in the diffusers layout and in the original one: every tensor and every result has the same bits. */
class BothLayoutsTest {
    private static final ModelFolder DIFFUSERS = ModelFolder.open(Geometries.TINY);

    @TempDir
    private static Path temp;
    /** Both partitions, under names that say nothing. */
    private static ModelFolder original;

    @BeforeAll
    static void writeThePartitions() throws IOException {
        OriginalCopy.fl2va(temp.resolve("a"));
        OriginalCopy.ref2va(temp.resolve("b"));
        original = ModelFolder.open(temp);
    }

    @Test
    void theLayoutIsToldByContent() {
        assertThat(original.layout()).isEqualTo(WeightLayout.ORIGINAL);
        assertThat(DIFFUSERS.layout()).isEqualTo(WeightLayout.DIFFUSERS);
        assertThat(original.geometry()).isEqualTo(DIFFUSERS.geometry());
        assertThat(original.tasks()).isEqualTo(EnumSet.allOf(Task.class));
        assertThat(ModelFolder.open(temp.resolve("a")).tasks()).containsExactly(Task.T2VA, Task.FL2VA);
        assertThat(ModelFolder.open(temp.resolve("b")).tasks()).containsExactly(Task.REF2VA);
    }

    @Test
    void everyTensorOfEveryNetworkHasTheSameBits() {
        for (Component component : Component.values()) {
            if (component.network()) {
                same(DIFFUSERS.network(component), original.network(component));
            }
        }
    }

    /** The partitions that the reference implementation wrote, where this machine has them. */
    @Test
    void theReferencesOwnPartitionsHaveTheSameBits() throws IOException {
        Optional<Path> full = GoldenCase.full();
        assumeTrue(full.isPresent(), "the full golden cases are not on this machine; KINEMA_GOLDENS names their folder");
        Path checkpoint = full.get().resolve("checkpoint");
        ModelFolder diffusers = ModelFolder.open(checkpoint);
        ModelFolder fl2va = ModelFolder.open(checkpoint.resolve("FL2VA"));
        ModelFolder ref2va = ModelFolder.open(checkpoint.resolve("Ref2VA"));
        for (Component shared : List.of(Component.TEXT_ENCODER, Component.VIDEO_VAE, Component.AUDIO_VAE)) {
            same(diffusers.network(shared), fl2va.network(shared));
            same(diffusers.network(shared), ref2va.network(shared));
        }
        same(diffusers.network(Component.TRANSFORMER), fl2va.network(Component.TRANSFORMER));
        same(diffusers.network(Component.TRANSFORMER_REF), ref2va.network(Component.TRANSFORMER_REF));
    }

    @Test
    void aRequestOfEachTransformerHasTheSameBits() {
        Path picture = GoldenCase.subset().resolve("pipeline/ref2va_image/reference.png");
        for (GenerateRequest request : List.of(
                GenerateRequest.prompt("A small robot walks.").size(64, 64).frames(22).steps(2).seed(3).build(),
                GenerateRequest.prompt("The cat sits.").size(64, 64).frames(22).steps(2).seed(4).reference(new Reference.Image(picture)).build())) {
            Map<String, byte[]> expected = made(DIFFUSERS, request);
            assertThat(expected).containsKeys("latents", "audio_latents", "frame 21", "left", "right");
            Map<String, byte[]> got = made(original, request);
            assertThat(got.keySet()).isEqualTo(expected.keySet());
            expected.forEach((name, bits) -> assertThat(Arrays.mismatch(got.get(name), bits)).as(name).isEqualTo(-1));
        }
    }

    /** The golden cases' own numbers, computed from the original layout. */
    @Test
    void goldenCasesHoldInTheOriginalLayout() {
        List<Path> cases = List.of("transformer", "video_vae", "audio_vae", "text_encoder").stream().map(GoldenCase.subset()::resolve).toList();
        List<CheckResult> results = new ArrayList<>();
        try (Verifier verifier = Verifier.open(VerifyOptions.DEFAULTS.withModel(temp))) {
            verifier.verify(cases, results::add);
        }
        assertThat(results).hasSizeGreaterThan(20);
        assertThat(results.stream().filter(r -> !r.ok()).map(CheckResult::line)).isEmpty();
    }

    /** {@code --transformer}: weights in place of the model's own, in whichever layout they lie. */
    @Test
    void otherWeightsThanTheModelsOwnMayHaveTheOtherLayout() {
        NetworkFolder own = DIFFUSERS.network(Component.TRANSFORMER);
        for (String weights : List.of("a/transformer", "a/transformer/model.safetensors")) {
            same(own::open, TransformerWeights.of(own, Optional.of(temp.resolve(weights)))::open);
        }
        same(own::open, TransformerWeights.of(original.network(Component.TRANSFORMER), Optional.of(own.folder()))::open);
        same(own::open, TransformerWeights.of(original.network(Component.TRANSFORMER), Optional.empty())::open);
    }

    private static void same(NetworkFolder expected, NetworkFolder got) {
        same(expected::open, got::open);
    }

    private static void same(Supplier<TensorSource> expected, Supplier<TensorSource> got) {
        try (TensorSource left = expected.get(); TensorSource right = got.get()) {
            assertThat(right.names()).containsExactlyInAnyOrderElementsOf(left.names());
            for (String name : left.names()) {
                StoredTensor a = left.get(name);
                StoredTensor b = right.get(name);
                assertThat(b.dtype()).as(name).isEqualTo(a.dtype());
                assertThat(b.shape()).as(name).isEqualTo(a.shape());
                assertThat(b.data().mismatch(a.data())).as("first differing byte of %s", name).isEqualTo(-1);
            }
        }
    }

    private static Map<String, byte[]> made(ModelFolder model, GenerateRequest request) {
        ModelGeometry geometry = model.geometry().withCanvas(64, 7168, 64).withMinSeconds(0);
        ResolvedRequest resolved = new RequestResolver(geometry, f -> new PictureSizes.Size(64, 64)).resolve(request);
        Clock clock = new Clock(ProgressListener.NONE, new Cancellation());
        Map<String, byte[]> bits = new TreeMap<>();
        try (Backend backend = CpuBackend.open(2);
             ModelParts parts = new ModelParts(model, backend, Precision.FP32, Optional.empty(), Optional.empty());
             H3Pipeline pipeline = H3Pipeline.prepare(parts, PipelineInput.of(resolved, geometry), clock, PipelineTap.NONE, GraphReplay.OFF)) {
            H3Pipeline.Made made = pipeline.make(resolved.seed(), clock, PipelineTap.NONE);
            bits.put("latents", bytes(made.latents().video()));
            bits.put("audio_latents", bytes(made.latents().audio()));
            bits.put("left", bytes(made.left()));
            bits.put("right", bytes(made.right()));
            for (int i = 0; i < made.frames().size(); i++) {
                bits.put("frame " + i, made.frames().get(i));
            }
        }
        return bits;
    }

    private static byte[] bytes(float[] values) {
        return MemorySegment.ofArray(values).toArray(ValueLayout.JAVA_BYTE);
    }
}
