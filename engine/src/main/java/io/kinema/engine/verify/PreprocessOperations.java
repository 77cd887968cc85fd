package io.kinema.engine.verify;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kinema.engine.layout.Anchor;
import io.kinema.engine.preprocess.CanvasRule;
import io.kinema.engine.preprocess.ConditionerFrames;
import io.kinema.engine.preprocess.Keyframes;
import io.kinema.engine.preprocess.PixelSize;
import io.kinema.engine.preprocess.ReferenceImages;
import io.kinema.engine.preprocess.ReferenceSounds;
import io.kinema.engine.preprocess.ReferenceVideos;
import io.kinema.engine.preprocess.VisionPixels;
import io.kinema.engine.preprocess.VisionProcessor;
import io.kinema.engine.prompt.VideoTimes;
import io.kinema.media.audio.Sound;
import io.kinema.media.image.ImageReader;
import io.kinema.media.image.RgbImage;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/** Pictures, videos and sounds on their way into the model. Cases state no model: steps and processors are the released ones. */
final class PreprocessOperations implements Operations {
    private static final int MULTIPLE = 32;
    private static final double FPS = 24;
    private static final VisionProcessor RELEASED = VisionProcessor.read(Answer.JSON.objectNode(), Answer.JSON.objectNode());

    @Override
    public Map<String, Operation> byName() {
        return Map.ofEntries(
                Map.entry("keyframes", PreprocessOperations::keyframes),
                Map.entry("reference_image", PreprocessOperations::referenceImage),
                Map.entry("reference_image_size", q -> Pictures.size(ReferenceImages.size(q.integer("width"), q.integer("height"), q.integer("short_edge"), multiple(q)))),
                Map.entry("resample_indices", PreprocessOperations::resampleIndices),
                Map.entry("conditioner_frames", PreprocessOperations::conditionerFrames),
                Map.entry("video_reference", PreprocessOperations::videoReference),
                Map.entry("resample_audio", PreprocessOperations::resampleAudio),
                Map.entry("vision_image", PreprocessOperations::visionImage),
                Map.entry("vision_video", PreprocessOperations::visionVideo),
                Map.entry("vision_image_size", q -> Pictures.size(RELEASED.imageSize(q.integer("width"), q.integer("height")))),
                Map.entry("vision_video_size", q -> Pictures.size(RELEASED.videoSize(q.integer("frames"), q.integer("width"), q.integer("height")))));
    }

    private static Answer keyframes(Question q) {
        List<RgbImage> pictures = new ArrayList<>();
        ArrayNode anchors = Answer.JSON.arrayNode();
        for (Map.Entry<String, Anchor> slot : List.of(Map.entry("image", Anchor.FIRST), Map.entry("last_image", Anchor.LAST))) {
            if (q.has(slot.getKey())) {
                pictures.add(ImageReader.read(q.picture(slot.getKey())));
                anchors.add(slot.getValue().label());
            }
        }
        if (pictures.isEmpty()) {
            throw q.bad("in", Answer.JSON.objectNode(), "expected image, last_image or both");
        }
        PixelSize canvas = q.optional("width").isInt() && q.optional("height").isInt() ? new PixelSize(q.integer("width"), q.integer("height"))
                : canvasRule(q).of(pictures.getFirst().width(), pictures.getFirst().height());
        Answer.Builder answer = new Answer.Builder();
        ObjectNode value = answer.value().put("height", canvas.height()).put("width", canvas.width());
        value.set("anchors", anchors);
        ArrayNode hashes = value.putArray("sha256_uint8_hwc");
        for (RgbImage placed : Keyframes.onCanvas(pictures, canvas)) {
            hashes.add(Sha256.hex(placed.rgb()));
            answer.put("keyframe" + (hashes.size() - 1), Pictures.values(placed));
        }
        return answer.build();
    }

    private static Answer referenceImage(Question q) {
        RgbImage picture = ReferenceImages.normalised(ImageReader.read(q.picture("image")), q.integer("short_edge"), multiple(q));
        Answer.Builder answer = new Answer.Builder().put("", Pictures.values(picture));
        answer.value().put("width", picture.width()).put("height", picture.height()).put("sha256_uint8_hwc", Sha256.hex(picture.rgb()));
        return answer.build();
    }

    private static Answer resampleIndices(Question q) {
        ArrayNode list = Answer.JSON.arrayNode();
        Arrays.stream(ReferenceVideos.resampleIndices(q.integer("frames"), q.number("fps"), q.integer("limit"), targetFps(q))).forEach(list::add);
        return Answer.of(list);
    }

    private static Answer conditionerFrames(Question q) {
        ConditionerFrames sampled = ConditionerFrames.sample(q.integer("frames"), q.number("fps"), q.number("sample_fps"), q.integer("temporal_patch"));
        ObjectNode value = Answer.JSON.objectNode();
        ArrayNode indices = value.putArray("indices");
        sampled.indices().forEach(indices::add);
        ArrayNode times = value.putArray("block_timestamps");
        ArrayNode labels = value.putArray("labels");
        sampled.blockTimestamps().forEach(t -> {
            times.add(t);
            labels.add(VideoTimes.label(t));
        });
        return Answer.of(value);
    }

    private static Answer videoReference(Question q) {
        return Answer.of(Pictures.values(ReferenceVideos.normalised(Pictures.frames(q.input("frames")), q.number("fps"), q.integer("limit"),
                targetFps(q), canvasRule(q))));
    }

    private static Answer resampleAudio(Question q) {
        Values waveform = q.input("waveform");
        Sound sound = ReferenceSounds.normalised(sound(waveform, q.integer("sample_rate")), q.integer("target_rate"),
                q.optional("max_seconds").asDouble(Double.POSITIVE_INFINITY));
        return Answer.of(Values.floats(joined(sound), sound.channelCount(), sound.length()));
    }

    /** (channel, sample). */
    static Sound sound(Values waveform, int rate) {
        int channels = waveform.shape().size(0);
        int length = waveform.shape().size(1);
        float[] all = waveform.toFloats();
        float[][] planes = new float[channels][];
        for (int c = 0; c < channels; c++) {
            planes[c] = Arrays.copyOfRange(all, c * length, (c + 1) * length);
        }
        return new Sound(rate, planes);
    }

    private static float[] joined(Sound sound) {
        float[] all = new float[sound.channelCount() * sound.length()];
        for (int c = 0; c < sound.channelCount(); c++) {
            System.arraycopy(sound.channel(c), 0, all, c * sound.length(), sound.length());
        }
        return all;
    }

    private static Answer visionImage(Question q) {
        return patches(RELEASED.image(ImageReader.read(q.picture("image"))), "pixel_values", "image_grid_thw", RELEASED.image().patch());
    }

    private static Answer visionVideo(Question q) {
        return patches(RELEASED.video(Pictures.frames(q.input("frames"))), "pixel_values_videos", "video_grid_thw", RELEASED.video().patch());
    }

    private static Answer patches(VisionPixels pixels, String name, String grid, int patch) {
        Answer.Builder answer = new Answer.Builder();
        Pictures.put(answer, name, grid, List.of(pixels), patch);
        return answer.build();
    }

    static CanvasRule canvasRule(Question q) {
        return new CanvasRule(multiple(q), q.integer("canvas_short_edge"), q.longInteger("canvas_max_pixels"));
    }

    private static int multiple(Question q) {
        return q.optional("multiple").asInt(MULTIPLE);
    }

    private static double targetFps(Question q) {
        JsonNode fps = q.optional("target_fps");
        return fps.isNumber() ? fps.asDouble() : FPS;
    }
}
