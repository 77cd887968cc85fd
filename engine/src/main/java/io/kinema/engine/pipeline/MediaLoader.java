package io.kinema.engine.pipeline;

import io.kinema.engine.BadRequestException;
import io.kinema.engine.Reference;
import io.kinema.engine.model.ModelGeometry;
import io.kinema.engine.plan.Keyframe;
import io.kinema.engine.plan.ResolvedRequest;
import io.kinema.engine.preprocess.Keyframes;
import io.kinema.engine.preprocess.PixelSize;
import io.kinema.engine.preprocess.SavedLatents;
import io.kinema.media.audio.AudioReader;
import io.kinema.media.audio.Sound;
import io.kinema.media.image.ImageReader;
import io.kinema.media.image.RgbImage;
import io.kinema.media.video.VideoReader;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

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

    private ConditionMedia references(ResolvedRequest request, ReferenceMedia media) {
        return new ConditionMedia.References(request.references().stream().map(r -> reference(r, request, media)).toList());
    }

    private ConditionMedia.Reference reference(Reference reference, ResolvedRequest request, ReferenceMedia media) {
        try {
            return switch (reference) {
                case Reference.Image image -> media.image(ImageReader.read(image.file()));
                case Reference.Video video -> video(video, media);
                case Reference.Latents latents -> new ConditionMedia.Reference.Latents(
                        SavedLatents.read(latents.file(), model).cut(request.latentFrames(), request.audioLatents()), latents.sound(), List.of());
                case Reference.Audio audio -> media.audio(AudioReader.read(audio.file()));
            };
        } catch (BadRequestException e) {
            throw e.in(reference.file());
        }
    }

    private static ConditionMedia.Reference video(Reference.Video video, ReferenceMedia media) {
        Optional<Sound> sound = video.sound() ? Optional.of(AudioReader.read(video.file())) : Optional.empty();
        try (VideoReader reader = VideoReader.open(video.file())) {
            return media.video(pictures(reader), reader.frameRate(), sound);
        }
    }

    /** The pictures of a video as they are decoded; a frame is let go once it is scaled. */
    private static Iterator<RgbImage> pictures(VideoReader reader) {
        return Stream.generate(reader::next).takeWhile(Optional::isPresent).map(frame -> frame.get().image()).iterator();
    }
}
