package io.kinema.engine.pipeline;

import io.kinema.engine.layout.FrameCounts;
import io.kinema.engine.model.ModelGeometry;
import io.kinema.engine.preprocess.CanvasRule;
import io.kinema.engine.preprocess.ReferenceImages;
import io.kinema.engine.preprocess.ReferenceSounds;
import io.kinema.engine.preprocess.ReferenceVideos;
import io.kinema.media.audio.Sound;
import io.kinema.media.image.RgbImage;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;

/**
 * Brings decoded references to the sizes and rates that the model wants; sounds and videos are cut to the clip's length.
 *
 * @param model  the geometry of the request
 * @param frames generated frames of the clip
 */
public record ReferenceMedia(ModelGeometry model, int frames) {
    /** A picture. @throws io.kinema.engine.BadRequestException when its shape is not within 1:4 and 4:1 */
    public ConditionMedia.Reference image(RgbImage picture) {
        return new ConditionMedia.Reference.Image(
                ReferenceImages.normalised(picture, model.referenceImageShortEdge(), model.canvasMultiple()));
    }

    /**
     * A video.
     *
     * @param pictures its frames, read no further than the clip's length needs
     * @param fps      their rate
     * @param sound    its soundtrack, when that is a condition too
     */
    public ConditionMedia.Reference video(Iterator<RgbImage> pictures, double fps, Optional<Sound> sound) {
        return new ConditionMedia.Reference.Video(
                ReferenceVideos.normalised(pictures, fps, frames, FrameCounts.FPS, CanvasRule.of(model)),
                sound.map(this::stereo).orElse(List.of()));
    }

    /** A video whose frames are all in memory. */
    public ConditionMedia.Reference video(List<RgbImage> pictures, double fps, Optional<Sound> sound) {
        return video(pictures.iterator(), fps, sound);
    }

    /** A sound. */
    public ConditionMedia.Reference audio(Sound sound) {
        return new ConditionMedia.Reference.Audio(stereo(sound));
    }

    private List<float[]> stereo(Sound sound) {
        Sound normal = ReferenceSounds.normalised(sound, model.sampleRate(), (double) frames / FrameCounts.FPS);
        return List.of(normal.channel(0), normal.channel(1));
    }
}
