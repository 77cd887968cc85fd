package io.kinema.engine.preprocess;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import io.kinema.engine.BadRequestException;
import io.kinema.engine.golden.GoldenCase;
import io.kinema.engine.prompt.VisionGrid;
import io.kinema.media.audio.Sound;
import io.kinema.media.image.ImageReader;
import io.kinema.media.image.RgbImage;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;

/** Every preprocessing number of the golden cases, exact; sound to its own limit. */
class PreprocessGoldenTest {

    private static final int MULTIPLE = 32;
    private static final VisionProcessor VISION = VisionProcessor.read(JsonNodeFactory.instance.objectNode(),
            JsonNodeFactory.instance.objectNode());

    @Test
    void canvases() {
        try (GoldenCase golden = GoldenCase.open("layout/tables")) {
            List<JsonNode> checks = golden.checks("canvas");
            assertThat(checks).isNotEmpty();
            for (JsonNode check : checks) {
                JsonNode args = check.get("args");
                CanvasRule rule = new CanvasRule(args.get("multiple").asInt(), args.get("short_edge").asInt(), args.get("max_pixels").asLong());
                PixelSize got = rule.of(args.get("aspect_width").asDouble(), args.get("aspect_height").asDouble());
                assertThat(got).as(args.toString()).isEqualTo(size(check.get("value")));
            }
        }
    }

    @Test
    void keyframes() {
        try (GoldenCase golden = GoldenCase.open("preprocess/keyframes")) {
            List<JsonNode> checks = golden.checks("keyframes");
            assertThat(checks).hasSizeGreaterThanOrEqualTo(4);
            for (JsonNode check : checks) {
                keyframes(golden, check);
            }
        }
    }

    private static void keyframes(GoldenCase golden, JsonNode check) {
        JsonNode args = check.get("args");
        List<RgbImage> pictures = new ArrayList<>();
        for (String name : List.of("image", "last_image")) {
            Optional.ofNullable(check.get("in").get(name)).ifPresent(f -> pictures.add(ImageReader.read(golden.folder().resolve(f.asText()))));
        }
        CanvasRule rule = new CanvasRule(MULTIPLE, args.get("canvas_short_edge").asInt(), args.get("canvas_max_pixels").asLong());
        PixelSize canvas = args.get("width").isNull() ? rule.of(pictures.getFirst().width(), pictures.getFirst().height()) : size(args);
        assertThat(canvas).isEqualTo(size(check.get("value")));
        List<RgbImage> got = Keyframes.onCanvas(pictures, canvas);
        for (int i = 0; i < got.size(); i++) {
            assertThat(sha256(got.get(i))).as("keyframe %d of %s", i, check.get("in"))
                    .isEqualTo(check.get("value").get("sha256_uint8_hwc").get(i).asText());
        }
        for (int i = 0; i < check.path("out").size(); i++) {
            assertThat(got.get(i).rgb()).isEqualTo(golden.bytes(check.get("out").get(i).get("at").asText()));
        }
    }

    @Test
    void referenceImages() {
        try (GoldenCase golden = GoldenCase.open("preprocess/reference_images")) {
            assertThat(golden.checks("reference_image")).hasSizeGreaterThanOrEqualTo(6);
            for (JsonNode check : golden.checks("reference_image")) {
                RgbImage source = ImageReader.read(golden.folder().resolve(check.get("in").get("image").asText()));
                RgbImage got = ReferenceImages.normalised(source, check.get("args").get("short_edge").asInt(), MULTIPLE);
                if (check.has("out")) {
                    assertThat(got.rgb()).isEqualTo(golden.bytes(check.get("out").get("at").asText()));
                } else {
                    assertThat(new PixelSize(got.width(), got.height())).isEqualTo(size(check.get("value")));
                    assertThat(sha256(got)).isEqualTo(check.get("value").get("sha256_uint8_hwc").asText());
                }
            }
            assertThat(golden.checks("reference_image_size")).isNotEmpty();
            for (JsonNode check : golden.checks("reference_image_size")) {
                JsonNode args = check.get("args");
                assertThat(ReferenceImages.size(args.get("width").asInt(), args.get("height").asInt(), args.get("short_edge").asInt(), MULTIPLE))
                        .as(args.toString()).isEqualTo(size(check.get("value")));
            }
        }
    }

    @Test
    void resampledFrames() {
        try (GoldenCase golden = GoldenCase.open("preprocess/video_reference")) {
            assertThat(golden.checks("resample_indices")).isNotEmpty();
            for (JsonNode check : golden.checks("resample_indices")) {
                JsonNode args = check.get("args");
                int[] got = ReferenceVideos.resampleIndices(args.get("frames").asInt(), args.get("fps").asDouble(),
                        args.get("limit").asInt(), args.get("target_fps").asDouble());
                assertThat(got).as(args.toString()).isEqualTo(check.get("value").valueStream().mapToInt(JsonNode::asInt).toArray());
            }
        }
    }

    @Test
    void conditionerFrames() {
        try (GoldenCase golden = GoldenCase.open("preprocess/video_reference")) {
            assertThat(golden.checks("conditioner_frames")).isNotEmpty();
            for (JsonNode check : golden.checks("conditioner_frames")) {
                JsonNode args = check.get("args");
                int frames = args.get("frames").asInt();
                if (check.get("value").isNull()) {
                    assertThatThrownBy(() -> sample(frames, args)).isInstanceOf(BadRequestException.class);
                    continue;
                }
                ConditionerFrames got = sample(frames, args);
                assertThat(got.indices()).as(args.toString())
                        .isEqualTo(check.get("value").get("indices").valueStream().map(JsonNode::asInt).toList());
                assertThat(got.blockTimestamps())
                        .isEqualTo(check.get("value").get("block_timestamps").valueStream().map(JsonNode::asDouble).toList());
            }
        }
    }

    private static ConditionerFrames sample(int frames, JsonNode args) {
        return ConditionerFrames.sample(frames, args.get("fps").asDouble(), args.get("sample_fps").asDouble(),
                args.get("temporal_patch").asInt());
    }

    @Test
    void referenceVideo() {
        try (GoldenCase golden = GoldenCase.open("preprocess/video_reference")) {
            JsonNode check = golden.checks("video_reference").getFirst();
            JsonNode args = check.get("args");
            CanvasRule rule = new CanvasRule(MULTIPLE, args.get("canvas_short_edge").asInt(), args.get("canvas_max_pixels").asLong());
            List<RgbImage> got = ReferenceVideos.normalised(frames(golden, check.get("in").get("frames").asText()).iterator(),
                    args.get("fps").asDouble(), args.get("limit").asInt(), 24, rule);
            List<RgbImage> expected = frames(golden, check.get("out").get("at").asText());
            assertThat(got).hasSameSizeAs(expected);
            for (int i = 0; i < got.size(); i++) {
                assertThat(got.get(i).rgb()).as("frame %d", i).isEqualTo(expected.get(i).rgb());
            }
        }
    }

    @Test
    void sounds() {
        try (GoldenCase golden = GoldenCase.open("preprocess/audio")) {
            assertThat(golden.checks("resample_audio")).isNotEmpty();
            for (JsonNode check : golden.checks("resample_audio")) {
                JsonNode args = check.get("args");
                String in = check.get("in").get("waveform").asText();
                Sound sound = new Sound(args.get("sample_rate").asInt(), channels(golden.floats(in), golden.shape(in)));
                Sound got = ReferenceSounds.normalised(sound, args.get("target_rate").asInt(), 3600);
                String out = check.get("out").get("at").asText();
                float[][] expected = channels(golden.floats(out), golden.shape(out));
                assertThat(got.channelCount()).isEqualTo(2);
                assertThat(got.length()).as(args.toString()).isEqualTo(expected[0].length);
                float limit = check.get("out").get("limit").floatValue();
                for (int c = 0; c < 2; c++) {
                    assertThat(got.channel(c)).as("%s channel %d", args, c).containsExactly(expected[c], Offset.offset(limit));
                }
            }
            JsonNode cut = golden.json().get("params").get("truncation");
            Sound whole = new Sound(cut.get("rate").asInt(), new float[1][cut.get("samples_in").asInt()]);
            assertThat(ReferenceSounds.normalised(whole, 32_000, cut.get("seconds").asDouble()).length())
                    .isEqualTo(cut.get("samples_out").asInt());
        }
    }

    @Test
    void visionPixels() {
        try (GoldenCase golden = GoldenCase.open("preprocess/vision_processor")) {
            assertThat(golden.checks("vision_image")).hasSize(2);
            for (JsonNode check : golden.checks("vision_image")) {
                RgbImage picture = ImageReader.read(golden.folder().resolve(check.get("in").get("image").asText()));
                vision(golden, check, VISION.image(picture));
            }
            for (JsonNode check : golden.checks("vision_video")) {
                vision(golden, check, VISION.video(frames(golden, check.get("in").get("frames").asText())));
            }
            for (JsonNode check : golden.checks("vision_image_size")) {
                JsonNode args = check.get("args");
                assertThat(VISION.imageSize(args.get("width").asInt(), args.get("height").asInt())).isEqualTo(size(check.get("value")));
            }
            for (JsonNode check : golden.checks("vision_video_size")) {
                JsonNode args = check.get("args");
                assertThat(VISION.videoSize(args.get("frames").asInt(), args.get("width").asInt(), args.get("height").asInt()))
                        .isEqualTo(size(check.get("value")));
            }
            float[] head = golden.floats("image1.safetensors#pixel_values_head");
            RgbImage picture = ImageReader.read(golden.folder().resolve("image1.png"));
            assertThat(Arrays.copyOf(VISION.image(picture).values(), head.length)).isEqualTo(head);
        }
    }

    private static void vision(GoldenCase golden, JsonNode check, VisionPixels got) {
        assertThat(got.bytes()).isEqualTo(golden.bytes(check.get("out").get(0).get("at").asText()));
        long[] grid = golden.longs(check.get("out").get(1).get("at").asText());
        assertThat(got.grid()).isEqualTo(new VisionGrid((int) grid[0], (int) grid[1], (int) grid[2]));
        assertThat(got.rows()).isEqualTo((int) golden.shape(check.get("out").get(0).get("at").asText())[0]);
    }

    private static List<RgbImage> frames(GoldenCase golden, String at) {
        long[] shape = golden.shape(at);
        byte[] all = golden.bytes(at);
        int frameBytes = (int) (shape[1] * shape[2] * shape[3]);
        List<RgbImage> frames = new ArrayList<>();
        for (int i = 0; i < shape[0]; i++) {
            frames.add(new RgbImage((int) shape[2], (int) shape[1], Arrays.copyOfRange(all, i * frameBytes, (i + 1) * frameBytes)));
        }
        return frames;
    }

    private static float[][] channels(float[] samples, long[] shape) {
        float[][] channels = new float[(int) shape[0]][];
        for (int c = 0; c < channels.length; c++) {
            channels[c] = Arrays.copyOfRange(samples, c * (int) shape[1], (c + 1) * (int) shape[1]);
        }
        return channels;
    }

    private static PixelSize size(JsonNode node) {
        return new PixelSize(node.get("width").asInt(), node.get("height").asInt());
    }

    private static String sha256(RgbImage image) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(image.rgb()));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }
}
