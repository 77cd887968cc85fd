package io.kinema.engine.plan;

import io.kinema.engine.BadRequestException;
import io.kinema.engine.Reference;
import java.util.List;

/** How many references of which kind a request may carry, as the released model's card says. */
final class ReferenceRules {
    private static final int MAX_IMAGES = 9;
    private static final int MAX_VIDEOS = 3;
    private static final int MAX_AUDIOS = 3;
    private static final int MAX_TOTAL = 12;

    private ReferenceRules() {
    }

    static void check(List<Reference> references) {
        atMost(count(references, Reference.Image.class), MAX_IMAGES, "pictures");
        atMost(count(references, Reference.Video.class) + count(references, Reference.Latents.class), MAX_VIDEOS, "videos");
        atMost(count(references, Reference.Audio.class), MAX_AUDIOS, "sounds");
        atMost(references.size(), MAX_TOTAL, "references in all");
        if (!references.isEmpty() && count(references, Reference.Audio.class) == references.size()) {
            throw new BadRequestException("references", "sounds alone", "expected a picture or a video beside them; add one");
        }
    }

    private static int count(List<Reference> references, Class<? extends Reference> kind) {
        return (int) references.stream().filter(kind::isInstance).count();
    }

    private static void atMost(int got, int limit, String what) {
        if (got > limit) {
            throw new BadRequestException("references", got + " " + what, "expected at most " + limit);
        }
    }
}
