package io.kinema.engine.forecast;

import io.kinema.engine.Reference;
import io.kinema.engine.plan.ResolvedRequest;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** How the prompt calls the pictures, videos and sounds of a request; the numbers follow from their order. */
final class ReferenceLabels {
    private int pictures;
    private int videos;
    private int sounds;

    private ReferenceLabels() {
    }

    /** One line for each keyframe and reference, in order. */
    static List<RunPlan.Condition> of(ResolvedRequest request) {
        ReferenceLabels labels = new ReferenceLabels();
        List<RunPlan.Condition> conditions = new ArrayList<>();
        request.keyframes().forEach(k -> conditions.add(new RunPlan.Condition(List.of(labels.picture()), k.anchor().label() + " keyframe", k.file())));
        request.references().forEach(r -> conditions.add(new RunPlan.Condition(labels.of(r), r.kind(), r.file())));
        return conditions;
    }

    private List<String> of(Reference reference) {
        return switch (reference) {
            case Reference.Image _ -> List.of(picture());
            case Reference.Video video -> video(video.sound());
            case Reference.Latents latents -> video(latents.sound());
            case Reference.Audio _ -> List.of(sound());
        };
    }

    /** A soundtrack stands in front of its video and takes the next number of the sounds. */
    private List<String> video(boolean withSound) {
        return withSound ? List.of(sound(), "Video " + ++videos) : List.of("Video " + ++videos);
    }

    private String picture() {
        return "Picture " + ++pictures;
    }

    private String sound() {
        return "Audio " + ++sounds;
    }
}
