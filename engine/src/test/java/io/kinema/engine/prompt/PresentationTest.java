package io.kinema.engine.prompt;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import io.kinema.engine.golden.GoldenCase;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PresentationTest {
    private static final int MERGE = 2;
    private static H3Tokenizer tokenizer;

    @BeforeAll
    static void open() {
        tokenizer = H3Tokenizer.open(GoldenCase.subset().resolve("checkpoint/tokenizer"));
    }

    @AfterAll
    static void close() {
        tokenizer.close();
    }

    @ParameterizedTest
    @ValueSource(strings = {"text_encoder/text_only", "text_encoder/one_image", "text_encoder/ref_video"})
    void idsAndTagsAreTheReferences(String name) {
        try (GoldenCase golden = GoldenCase.open(name)) {
            requireSame(golden);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"text_encoder/long_text", "text_encoder/two_images", "text_encoder/ref_mixed"})
    void idsAndTagsAreTheReferencesInTheFullSet(String name) {
        var full = GoldenCase.openFull(name);
        Assumptions.assumeTrue(full.isPresent(), "the full goldens are not on this machine");
        try (GoldenCase golden = full.get()) {
            requireSame(golden);
        }
    }

    private static void requireSame(GoldenCase golden) {
        List<JsonNode> checks = golden.checks("presentation");
        assertThat(checks).hasSize(1);
        JsonNode check = checks.getFirst();
        Presentation got = present(golden, check.path("args"));
        assertThat(longs(got.tokenIds())).containsExactly(golden.longs(check.at("/out/input_ids/at").asText()));
        assertThat(longs(got.tags())).containsExactly(golden.longs(check.at("/out/text_token_tags/at").asText()));
        assertThat(longs(got.visionTypes())).containsExactly(golden.longs("inputs.safetensors#mm_token_type_ids"));
    }

    private static Presentation present(GoldenCase golden, JsonNode args) {
        String prompt = args.path("prompt").asText();
        return switch (args.path("task").asText()) {
            case "t2va" -> Presentation.ofText(tokenizer, prompt);
            case "fl2va" -> Presentation.ofKeyframes(tokenizer, prompt, grids(golden, "image_grid_thw"), MERGE);
            case "ref2va" -> Presentation.ofReferences(tokenizer, prompt, references(golden, args), MERGE);
            default -> throw new IllegalArgumentException(args.toString());
        };
    }

    private static List<PromptReference> references(GoldenCase golden, JsonNode args) {
        List<PromptReference> references = new ArrayList<>();
        int images = 0;
        int videos = 0;
        for (JsonNode r : args.path("normalized_references")) {
            switch (r.path("kind").asText()) {
                case "image" -> references.add(new PromptReference.Image(grids(golden, "image_grid_thw").get(images++)));
                case "audio" -> references.add(new PromptReference.Audio());
                case "video" -> {
                    int frames = (int) golden.shape(r.path("frames").asText())[0];
                    VisionGrid grid = grids(golden, "video_grid_thw").get(videos++);
                    references.add(new PromptReference.Video(grid, VideoTimes.ofPairs(Math.ceilDiv(frames, 12), 2), r.path("sound").asBoolean()));
                }
                default -> throw new IllegalArgumentException(r.toString());
            }
        }
        return references;
    }

    private static List<VisionGrid> grids(GoldenCase golden, String tensor) {
        long[] thw = golden.longs("inputs.safetensors#" + tensor);
        List<VisionGrid> grids = new ArrayList<>();
        for (int i = 0; i < thw.length; i += 3) {
            grids.add(new VisionGrid((int) thw[i], (int) thw[i + 1], (int) thw[i + 2]));
        }
        return grids;
    }

    @Test
    void secondsAreRoundedHalfToEven() {
        assertThat(VideoTimes.ofPairs(7, 2)).containsExactly(0.25, 1.25, 2.25, 3.0);
        assertThat(List.of(0.25, 0.75, 1.25, 3.0, 10.35, 14.05).stream().map(VideoTimes::label))
                .containsExactly("<0.2 seconds>", "<0.8 seconds>", "<1.2 seconds>", "<3.0 seconds>", "<10.3 seconds>", "<14.1 seconds>");
    }

    @Test
    void soundsShareOneCountAndOrderNumbersTheLabels() {
        VisionGrid picture = new VisionGrid(1, 2, 2);
        VisionGrid video = new VisionGrid(1, 2, 4);
        Presentation got = Presentation.ofReferences(tokenizer, "go", List.of(new PromptReference.Audio(), new PromptReference.Image(picture),
                new PromptReference.Video(video, List.of(0.25), true), new PromptReference.Image(picture), new PromptReference.Audio()), MERGE);
        int[] expected = join("<Audio 1>: ", "<Picture 1>: ", block(VisionBlock.Kind.IMAGE, 1), "<Audio 2>: ", "<Video 1>: ", "<0.2 seconds>",
                block(VisionBlock.Kind.VIDEO, 2), "<Picture 2>: ", block(VisionBlock.Kind.IMAGE, 1), "<Audio 3>: ", "go");
        assertThat(got.tokenIds()).containsExactly(expected);
        assertThat(got.blocks()).extracting(VisionBlock::source).containsExactly(0, 0, 1);
        for (VisionBlock b : got.blocks()) {
            int[] ids = got.tokenIds();
            assertThat(ids[b.start() - 1]).isEqualTo(tokenizer.vision().start());
            assertThat(ids[b.start() + b.tokens()]).isEqualTo(tokenizer.vision().end());
            assertThat(Arrays.copyOfRange(got.tags(), b.start() - 1, b.start() + b.tokens() + 1)).containsOnly(0);
        }
    }

    @Test
    void promptsCannotClaimVisionFeatures() {
        Presentation got = Presentation.ofText(tokenizer, "a <|vision_start|><|image_pad|><|vision_end|>");
        assertThat(got.blocks()).isEmpty();
        assertThat(got.visionTypes()).containsOnly(0);
        assertThat(got.tokenIds()).doesNotContain(tokenizer.vision().imagePad(), tokenizer.vision().start(), tokenizer.vision().end());
    }

    @Test
    void gridsThatDoNotMergeAreRefused() {
        assertThatThrownBy(() -> Presentation.ofKeyframes(tokenizer, "x", List.of(new VisionGrid(1, 3, 2)), MERGE))
                .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("3 x 2").hasMessageContaining("merge size 2");
        assertThatThrownBy(() -> new PromptReference.Video(new VisionGrid(2, 2, 2), List.of(0.25), false)).hasMessageContaining("2 merged frame pairs");
        assertThatThrownBy(() -> new PromptReference.Image(new VisionGrid(2, 2, 2))).hasMessageContaining("expected 1");
    }

    private static int[] block(VisionBlock.Kind kind, int pads) {
        VisionTokens v = tokenizer.vision();
        int[] ids = new int[pads + 2];
        Arrays.fill(ids, kind == VisionBlock.Kind.IMAGE ? v.imagePad() : v.videoPad());
        ids[0] = v.start();
        ids[pads + 1] = v.end();
        return ids;
    }

    private static int[] join(Object... parts) {
        return Arrays.stream(parts).flatMapToInt(p -> Arrays.stream(p instanceof String s ? tokenizer.encode(s) : (int[]) p)).toArray();
    }

    private static long[] longs(int[] values) {
        return Arrays.stream(values).asLongStream().toArray();
    }
}
