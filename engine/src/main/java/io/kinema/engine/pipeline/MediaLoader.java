package io.kinema.engine.pipeline;

import io.kinema.engine.BadRequestException;
import io.kinema.engine.Reference;
import io.kinema.engine.model.ModelGeometry;
import io.kinema.engine.plan.Keyframe;
import io.kinema.engine.plan.ResolvedRequest;
import io.kinema.engine.preprocess.Keyframes;
import io.kinema.engine.preprocess.PixelSize;
import io.kinema.media.image.ImageReader;
import io.kinema.media.image.RgbImage;
import java.util.ArrayList;
import java.util.List;

/** Reads the files that a request names and brings them to the sizes and rates that the model wants. */
public final class MediaLoader {
    private final ModelGeometry model;

    public MediaLoader(ModelGeometry model) {
        this.model = model;
    }

    /** @throws io.kinema.media.BadMediaException when a file cannot be read, naming it */
    public ConditionMedia load(ResolvedRequest request) {
        return switch (request.task()) {
            case T2VA -> new ConditionMedia.None();
            case FL2VA -> keyframes(request);
            case REF2VA -> references(request, new ReferenceMedia(model, request.frames()));
        };
    }

    private static ConditionMedia keyframes(ResolvedRequest request) {
        List<RgbImage> pictures = request.keyframes().stream().map(k -> ImageReader.read(k.file())).toList();
        List<RgbImage> placed = Keyframes.onCanvas(pictures, new PixelSize(request.width(), request.height()));
        List<ConditionMedia.Keyframe> keyframes = new ArrayList<>();
        for (int i = 0; i < placed.size(); i++) {
            Keyframe keyframe = request.keyframes().get(i);
            keyframes.add(new ConditionMedia.Keyframe(keyframe.anchor(), placed.get(i)));
        }
        return new ConditionMedia.Keyframes(keyframes);
    }

    private static ConditionMedia references(ResolvedRequest request, ReferenceMedia media) {
        return new ConditionMedia.References(request.references().stream().map(r -> reference(r, media)).toList());
    }

    private static ConditionMedia.Reference reference(Reference reference, ReferenceMedia media) {
        return switch (reference) {
            case Reference.Image image -> media.image(ImageReader.read(image.file()));
            case Reference.Video _, Reference.Audio _ -> throw new BadRequestException("references", reference.kind() + ":" + reference.file(),
                    "expected pictures; this build reads no video or sound files yet");
        };
    }
}
