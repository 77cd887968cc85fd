package io.kinema.engine.plan;

import io.kinema.engine.BadRequestException;
import io.kinema.engine.GenerateRequest;
import io.kinema.engine.layout.FrameCounts;
import io.kinema.engine.model.ModelGeometry;
import java.util.List;
import java.util.Locale;

/** Frame counts: 17n + 5 pixel frames are 5n + 2 latent frames, and the decoder needs three of those, so n is at least 1. */
final class FrameRules {
    private FrameRules() {
    }

    /** The frame count of a request, snapped up and noted; under {@code strict} a count off the grid is refused. */
    static int frames(GenerateRequest request, ModelGeometry model, List<String> notes) {
        if (request.frames().isPresent() && request.seconds().isPresent()) {
            throw new BadRequestException("seconds", request.seconds().getAsDouble() + " together with frames "
                    + request.frames().getAsInt(), "expected one or the other");
        }
        int asked;
        String got;
        if (request.seconds().isPresent()) {
            double seconds = request.seconds().getAsDouble();
            if (!(seconds > 0 && seconds <= model.limits().maxSeconds())) {
                throw outside("seconds", "" + seconds, model);
            }
            asked = Math.max(1, (int) Math.rint(seconds * FrameCounts.FPS));
            got = seconds + " seconds";
        } else if (request.frames().isPresent()) {
            asked = request.frames().getAsInt();
            if (asked < 1 || asked > most(model)) {
                throw outside("frames", "" + asked, model);
            }
            got = asked + " frames";
        } else {
            asked = model.limits().defaultFrames();
            got = asked + " frames by default";
            if (aligned(asked, model) == asked) {
                notes.add(got);
            }
        }
        return snapped(request, asked, got, model, notes);
    }

    private static int snapped(GenerateRequest request, int asked, String got, ModelGeometry model, List<String> notes) {
        String field = request.seconds().isPresent() ? "seconds" : "frames";
        int frames = aligned(asked, model);
        if (frames < least(model) || frames > most(model)) {
            throw outside(field, got, model);
        }
        if (frames != asked) {
            // Seconds hardly ever fall on the grid; strict asks for exactness where a user can give it.
            if (request.strict() && request.frames().isPresent()) {
                throw new BadRequestException("frames", "" + asked, "expected " + model.counts().framesPerChunk() + "n + " + model.counts().latentsPerChunk()
                        + "; the nearest are " + neighbours(frames, model));
            }
            notes.add(String.format(Locale.ROOT, "%s become %d, the next %dn + %d the video decoder can make (%.3f s)", got,
                    frames, model.counts().framesPerChunk(), model.counts().latentsPerChunk(), (double) frames / FrameCounts.FPS));
        } else if (request.seconds().isPresent()) {
            notes.add(got + " are " + frames + " frames");
        }
        return frames;
    }

    private static String neighbours(int above, ModelGeometry model) {
        int below = above - model.counts().framesPerChunk();
        return below >= least(model) ? below + " and " + above : "" + above;
    }

    private static BadRequestException outside(String field, String got, ModelGeometry model) {
        return new BadRequestException(field, got, String.format(Locale.ROOT,
                "expected %dn+%d frames from %d to %d (%.3f to %.3f s at %d frames a second)",
                model.counts().framesPerChunk(), model.counts().latentsPerChunk(), least(model), most(model),
                (double) least(model) / FrameCounts.FPS, (double) most(model) / FrameCounts.FPS, FrameCounts.FPS));
    }

    /** The least count of the form 17n + 5, n at least 1, that is not below {@code frames}. */
    private static int aligned(int frames, ModelGeometry model) {
        FrameCounts counts = model.counts();
        return counts.align(Math.max(frames, counts.framesPerChunk() + counts.latentsPerChunk()));
    }

    /** Shortest clip of the model, on the grid. */
    private static int least(ModelGeometry model) {
        return aligned((int) Math.ceil(model.limits().minSeconds() * FrameCounts.FPS), model);
    }

    /** Longest clip of the model, on the grid: its duration, not the one asked for, stays within the limit. */
    private static int most(ModelGeometry model) {
        FrameCounts counts = model.counts();
        int limit = (int) Math.floor(model.limits().maxSeconds() * FrameCounts.FPS);
        return Math.floorDiv(limit - counts.latentsPerChunk(), counts.framesPerChunk()) * counts.framesPerChunk() + counts.latentsPerChunk();
    }
}
