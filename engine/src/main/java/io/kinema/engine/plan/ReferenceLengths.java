package io.kinema.engine.plan;

import io.kinema.engine.BadRequestException;
import io.kinema.engine.Reference;
import io.kinema.engine.layout.FrameCounts;
import io.kinema.engine.layout.LatentShape;
import io.kinema.engine.model.ModelGeometry;
import io.kinema.engine.preprocess.ConditionerFrames;
import io.kinema.engine.preprocess.ReferenceSounds;
import io.kinema.engine.preprocess.ReferenceVideos;
import io.kinema.engine.preprocess.SavedLatents;
import io.kinema.engine.preprocess.VisionProcessor;
import io.kinema.engine.prompt.VideoTimes;
import io.kinema.media.BadMediaException;
import io.kinema.media.container.MediaHeader;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;

/**
 * How long the videos and sounds of a request may be, each and together, as the released model's card says: 2 to 15 seconds. A
 * model that makes shorter clips takes shorter references too. Read from the files' headers, so that a wrong file is refused
 * before any weight is loaded.
 */
final class ReferenceLengths {
    private static final double RELEASED_LEAST = 2;
    private static final double MOST = 15;
    private static final long MAX_RATIO = 4;
    /** A container rounds its duration to its own clock. */
    private static final double TOLERANCE = 0.01;

    private final ModelGeometry model;
    private final MediaHeaders headers;
    private final int frames;

    /** @param frames generated frames, to which videos are cut */
    ReferenceLengths(ModelGeometry model, MediaHeaders headers, int frames) {
        this.model = model;
        this.headers = headers;
        this.frames = frames;
    }

    /** @throws BadRequestException naming the file and the rule */
    void check(List<Reference> references) {
        double videos = 0;
        double sounds = 0;
        for (Reference reference : references) {
            switch (reference) {
                case Reference.Video video -> videos += video(video);
                case Reference.Audio audio -> sounds += sound(audio);
                case Reference.Latents latents -> videos += latents(latents);
                case Reference.Image _ -> { }
            }
        }
        requireSum("videos", videos);
        requireSum("sounds", sounds);
    }

    private double video(Reference.Video reference) {
        Path file = reference.file();
        MediaHeader header = headers.of(file);
        MediaHeader.Video video = header.video()
                .orElseThrow(() -> new BadMediaException("The file '" + file + "' has no video; give one with pictures."));
        requireLength(reference, video.seconds());
        requireShape(reference, video);
        int count = ReferenceVideos.resampleIndices((int) Math.min(Integer.MAX_VALUE, video.frames()), video.frameRate(), frames, FrameCounts.FPS).length;
        int least = ConditionerFrames.leastFrames(FrameCounts.FPS, VideoTimes.SAMPLE_FPS, VisionProcessor.Geometry.RELEASED_VIDEO.temporalPatch());
        if (count < least) {
            throw new BadRequestException("references", String.format(Locale.ROOT, "%d frames at %d a second in %s:%s", count, FrameCounts.FPS,
                    reference.kind(), file), String.format(Locale.ROOT, "expected at least %d (%.2f s); choose a longer one", least,
                    (double) least / FrameCounts.FPS));
        }
        if (reference.sound()) {
            MediaHeader.Sound track = header.sound().orElseThrow(() -> new BadRequestException("references", "video+sound:" + file
                    + ", which has no soundtrack", "expected a video with sound; give it as video:" + file + ", or another file"));
            ReferenceSounds.requireFormat(track.channels(), track.sampleRate());
        }
        return video.seconds();
    }

    private double latents(Reference.Latents reference) {
        LatentShape shape = SavedLatents.header(reference.file(), model).video();
        double seconds = (double) model.counts().frames(shape.frames()) / FrameCounts.FPS;
        requireLength(reference, seconds);
        return seconds;
    }

    private static void requireShape(Reference reference, MediaHeader.Video video) {
        if (video.width() < 1 || video.height() < 1 || video.width() > MAX_RATIO * video.height() || video.height() > MAX_RATIO * video.width()) {
            throw new BadRequestException("references", "a video of " + video.width() + "x" + video.height() + " in '" + reference.file() + "'",
                    "expected a shape from 1:4 to 4:1; crop it");
        }
    }

    private double sound(Reference.Audio reference) {
        Path file = reference.file();
        MediaHeader.Sound sound = headers.of(file).sound()
                .orElseThrow(() -> new BadMediaException("The file '" + file + "' has no sound; give one that has."));
        requireLength(reference, sound.seconds());
        ReferenceSounds.requireFormat(sound.channels(), sound.sampleRate());
        return sound.seconds();
    }

    /** A length the header does not tell is left to the reader. */
    private void requireLength(Reference reference, double seconds) {
        double least = Math.min(RELEASED_LEAST, model.limits().minSeconds());
        if (seconds > 0 && (seconds < least - TOLERANCE || seconds > MOST + TOLERANCE)) {
            throw new BadRequestException("references", String.format(Locale.ROOT, "%.2f s in %s:%s", seconds, reference.kind(), reference.file()),
                    String.format(Locale.ROOT, "expected %s; cut it", least > 0 ? String.format(Locale.ROOT, "%.0f to %.0f s", least, MOST)
                            : String.format(Locale.ROOT, "at most %.0f s", MOST)));
        }
    }

    private static void requireSum(String what, double seconds) {
        if (seconds > MOST + TOLERANCE) {
            throw new BadRequestException("references", String.format(Locale.ROOT, "%s of %.2f s together", what, seconds),
                    String.format(Locale.ROOT, "expected at most %.0f s; cut or leave out some", MOST));
        }
    }
}
