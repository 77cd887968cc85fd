package io.kinema.engine.verify;

import com.fasterxml.jackson.databind.JsonNode;
import io.kinema.engine.layout.FrameCounts;
import io.kinema.engine.model.ModelGeometry;
import io.kinema.engine.pipeline.ConditionMedia;
import io.kinema.engine.preprocess.CanvasRule;
import io.kinema.engine.preprocess.ReferenceImages;
import io.kinema.engine.preprocess.ReferenceSounds;
import io.kinema.engine.preprocess.ReferenceVideos;
import io.kinema.media.audio.Sound;
import io.kinema.media.image.ImageReader;
import io.kinema.media.image.RgbImage;
import java.util.ArrayList;
import java.util.List;

/** The references of a ref2va case, brought to the model's sizes and rates. */
final class CaseReferences {
    private final Question q;
    private final ModelGeometry model;
    private final int frames;

    private CaseReferences(Question q, ModelGeometry model, int frames) {
        this.q = q;
        this.model = model;
        this.frames = frames;
    }

    /** @param frames pixel frames of the generated clip; references are cut to its length */
    static ConditionMedia media(Question q, ModelGeometry model, int frames) {
        CaseReferences reader = new CaseReferences(q, model, frames);
        List<ConditionMedia.Reference> references = new ArrayList<>();
        q.argument("references").forEach(r -> references.add(reader.reference(r)));
        return new ConditionMedia.References(references);
    }

    private ConditionMedia.Reference reference(JsonNode reference) {
        return switch (reference.path("kind").asText()) {
            case "image" -> new ConditionMedia.Reference.Image(ReferenceImages.normalised(
                    ImageReader.read(q.files().file(reference.path("image").asText())), model.referenceImageShortEdge(), model.canvasMultiple()));
            case "video" -> new ConditionMedia.Reference.Video(video(reference), reference.has("audio") ? sound(reference) : List.of());
            case "audio" -> new ConditionMedia.Reference.Audio(sound(reference));
            default -> throw q.bad("references kind", reference.path("kind"), "expected image, video or audio");
        };
    }

    private List<RgbImage> video(JsonNode reference) {
        return ReferenceVideos.normalised(Pictures.frames(q.files().values(reference.path("frames").asText())), reference.path("fps").asDouble(),
                frames, FrameCounts.FPS, CanvasRule.of(model));
    }

    /** Left and right. */
    private List<float[]> sound(JsonNode reference) {
        Sound stereo = ReferenceSounds.normalised(
                PreprocessOperations.sound(q.files().values(reference.path("audio").asText()), reference.path("sample_rate").asInt()),
                model.sampleRate(), (double) frames / FrameCounts.FPS);
        return List.of(stereo.channel(0), stereo.channel(1));
    }
}
