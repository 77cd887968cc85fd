package io.kinema.engine.verify;

import com.fasterxml.jackson.databind.JsonNode;
import io.kinema.engine.model.Component;
import io.kinema.engine.model.Json;
import io.kinema.engine.model.ModelFolder;
import io.kinema.engine.preprocess.ConditionerFrames;
import io.kinema.engine.preprocess.VisionPixels;
import io.kinema.engine.preprocess.VisionProcessor;
import io.kinema.engine.prompt.H3Tokenizer;
import io.kinema.engine.prompt.Presentation;
import io.kinema.engine.prompt.PromptReference;
import io.kinema.engine.prompt.VideoTimes;
import io.kinema.media.image.ImageReader;
import io.kinema.media.image.RgbImage;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A request as the text encoder reads it: token ids, tags and pixels. One object for one check. */
final class PresentationOperation {
    private final Question q;
    private final VisionProcessor processor;
    private final List<VisionPixels> pictures = new ArrayList<>();
    private final List<VisionPixels> videos = new ArrayList<>();
    private final List<PromptReference> references = new ArrayList<>();

    private PresentationOperation(Question q, VisionProcessor processor) {
        this.q = q;
        this.processor = processor;
    }

    static Answer answer(Question q) {
        ModelFolder model = ModelFolder.open(q.weights());
        Path settings = model.folders().containsKey(Component.PROCESSOR) ? model.folder(Component.PROCESSOR) : model.folder(Component.TEXT_ENCODER);
        VisionProcessor processor = VisionProcessor.read(Json.object(settings.resolve("preprocessor_config.json")),
                Json.object(settings.resolve("video_preprocessor_config.json")));
        try (H3Tokenizer tokenizer = H3Tokenizer.open(model.folder(Component.TOKENIZER))) {
            return new PresentationOperation(q, processor).present(tokenizer);
        }
    }

    private Answer present(H3Tokenizer tokenizer) {
        for (JsonNode file : q.optional("keyframes")) {
            picture(ImageReader.read(q.files().file(file.asText())));
        }
        q.optional("normalized_references").forEach(this::reference);
        Presentation presentation = Presentation.ofReferences(tokenizer, q.text("prompt"), references, processor.image().merge());
        Answer.Builder answer = new Answer.Builder()
                .put("input_ids", Values.ints(presentation.tokenIds(), presentation.rows()))
                .put("text_token_tags", Values.ints(presentation.tags(), presentation.rows()))
                .put("mm_token_type_ids", Values.ints(presentation.visionTypes(), presentation.rows()));
        if (!pictures.isEmpty()) {
            Pictures.put(answer, "pixel_values", "image_grid_thw", pictures, processor.image().patch());
        }
        if (!videos.isEmpty()) {
            Pictures.put(answer, "pixel_values_videos", "video_grid_thw", videos, processor.video().patch());
        }
        return answer.build();
    }

    private void reference(JsonNode reference) {
        switch (reference.path("kind").asText()) {
            case "image" -> picture(ImageReader.read(q.files().file(reference.path("image").asText())));
            case "audio" -> references.add(new PromptReference.Audio());
            case "video" -> video(reference);
            default -> throw q.bad("normalized_references kind", reference.path("kind"), "expected image, video or audio");
        }
    }

    private void picture(RgbImage picture) {
        VisionPixels pixels = processor.image(picture);
        pictures.add(pixels);
        references.add(new PromptReference.Image(pixels.grid()));
    }

    private void video(JsonNode reference) {
        List<RgbImage> frames = Pictures.frames(q.files().values(reference.path("frames").asText()));
        ConditionerFrames sampled = ConditionerFrames.sample(frames.size(), reference.path("fps").asDouble(), VideoTimes.SAMPLE_FPS,
                processor.video().temporalPatch());
        VisionPixels pixels = processor.video(sampled.indices().stream().map(frames::get).toList());
        videos.add(pixels);
        references.add(new PromptReference.Video(pixels.grid(), sampled.blockTimestamps(), reference.path("sound").asBoolean()));
    }
}
