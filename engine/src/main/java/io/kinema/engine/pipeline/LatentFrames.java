package io.kinema.engine.pipeline;

import io.kinema.engine.Stage;
import io.kinema.engine.preprocess.SavedLatents;
import io.kinema.media.image.RgbImage;
import java.util.List;

/** Decodes the latents that stand in place of reference videos, so that the text encoder can look at them. */
final class LatentFrames {
    private LatentFrames() {
    }

    /** The same media with the frames of all latents; the very same when it has none. */
    static ConditionMedia decoded(ModelParts parts, ConditionMedia media, Clock clock) {
        if (media instanceof ConditionMedia.References references
                && references.references().stream().anyMatch(ConditionMedia.Reference.Latents.class::isInstance)) {
            return clock.stage(Stage.CONDITION_ENCODING, () -> new ConditionMedia.References(
                    references.references().stream().map(reference -> decoded(parts, reference, clock)).toList()));
        }
        return media;
    }

    private static ConditionMedia.Reference decoded(ModelParts parts, ConditionMedia.Reference reference, Clock clock) {
        return reference instanceof ConditionMedia.Reference.Latents latents ? latents.decoded(pictures(parts, latents.latents(), clock)) : reference;
    }

    private static List<RgbImage> pictures(ModelParts parts, SavedLatents latents, Clock clock) {
        int ratio = parts.folder().geometry().spatialCompression();
        int width = latents.shape().width() * ratio;
        int height = latents.shape().height() * ratio;
        return VideoStage.decode(parts.backend(), parts.videoDecoder(), latents.video(), latents.shape(), clock, PipelineTap.NONE).stream()
                .map(rgb -> new RgbImage(width, height, rgb)).toList();
    }
}
