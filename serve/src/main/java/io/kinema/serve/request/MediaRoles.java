package io.kinema.serve.request;

import io.kinema.engine.GenerateRequest;
import io.kinema.engine.Reference;
import io.kinema.engine.Task;
import io.kinema.media.container.HeaderReader;
import io.kinema.serve.problem.Problem;
import io.kinema.serve.request.MediaInput.Role;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Decides what each file of a call is for. Videos, sounds and latents are references. A picture that was not given a place is a
 * keyframe, unless the task is ref2va or there are references beside it; the first plain picture then starts the clip and a second
 * one ends it, where no keyframe indices say otherwise.
 */
final class MediaRoles {
    private MediaRoles() {
    }

    /** The call's request with its media. */
    static GenerateRequest apply(VideoCall call, List<MediaStager.Staged> staged) {
        List<MediaStager.Staged> settled = anchored(call, staged.stream().map(MediaRoles::settled).toList());
        GenerateRequest plain = call.request();
        return new GenerateRequest(plain.prompt(), plain.task(), only(settled, Role.FIRST, "first"), only(settled, Role.LAST, "last"),
                settled.stream().flatMap(MediaRoles::reference).toList(), plain.width(), plain.height(), plain.aspectRatio(), plain.frames(),
                plain.seconds(), plain.steps(), plain.seed(), plain.outputs(), plain.flowShift(), plain.audioFlowShift(), plain.noiseScheme(),
                plain.strict(), plain.adapters());
    }

    /** Checks a file against its role; one of any kind gets the role of its kind. */
    private static MediaStager.Staged settled(MediaStager.Staged staged) {
        MediaInput input = staged.input();
        Optional<MediaKind> expected = MediaStager.expected(input.role());
        if (expected.isPresent() && expected.get() != staged.kind()) {
            throw Problem.invalid(input.name(), staged.kind().label(), "expected " + expected.get().label());
        }
        if (input.role() != Role.ANY) {
            return staged;
        }
        return as(staged, switch (staged.kind()) {
            case PICTURE -> Role.PICTURE;
            case VIDEO -> Role.REFERENCE_VIDEO;
            case SOUND -> Role.REFERENCE_AUDIO;
            case LATENTS -> Role.REFERENCE_LATENTS;
        });
    }

    private static List<MediaStager.Staged> anchored(VideoCall call, List<MediaStager.Staged> staged) {
        long pictures = staged.stream().filter(s -> s.input().role() == Role.PICTURE).count();
        if (!call.anchors().isEmpty() && call.anchors().size() != pictures) {
            throw Problem.invalid("keyframe_indices", call.anchors().size() + " for " + pictures + " pictures", "expected one for each picture");
        }
        boolean references = call.request().task().filter(task -> task == Task.REF2VA).isPresent()
                || call.request().task().isEmpty() && call.anchors().isEmpty() && staged.stream().anyMatch(s -> reference(s).findAny().isPresent());
        if (!references && pictures > 2) {
            throw Problem.invalid("task", "none with " + pictures + " pictures", "expected ref2va for references, or at most two pictures as keyframes");
        }
        List<MediaStager.Staged> anchored = new ArrayList<>();
        int next = 0;
        for (MediaStager.Staged one : staged) {
            if (one.input().role() != Role.PICTURE) {
                anchored.add(one);
            } else if (references) {
                anchored.add(as(one, Role.REFERENCE_IMAGE));
            } else {
                anchored.add(as(one, call.anchors().isEmpty() ? next == 0 ? Role.FIRST : Role.LAST : call.anchors().get(next)));
                next++;
            }
        }
        return anchored;
    }

    private static MediaStager.Staged as(MediaStager.Staged staged, Role role) {
        return new MediaStager.Staged(staged.input().as(role), staged.file(), staged.kind(), staged.bytes());
    }

    private static Optional<Path> only(List<MediaStager.Staged> staged, Role role, String label) {
        List<MediaStager.Staged> of = staged.stream().filter(s -> s.input().role() == role).toList();
        if (of.size() > 1) {
            throw Problem.invalid(of.get(1).input().name(), "a second " + label + " frame", "expected one at most");
        }
        return of.stream().map(MediaStager.Staged::file).findFirst();
    }

    private static Stream<Reference> reference(MediaStager.Staged staged) {
        Path file = staged.file();
        return switch (staged.input().role()) {
            case FIRST, LAST, PICTURE, ANY -> Stream.empty();
            case REFERENCE_IMAGE -> Stream.of(new Reference.Image(file));
            case REFERENCE_VIDEO -> Stream.of(new Reference.Video(file, HeaderReader.read(file).sound().isPresent()));
            case REFERENCE_VIDEO_SILENT -> Stream.of(new Reference.Video(file, false));
            case REFERENCE_VIDEO_SOUND -> Stream.of(new Reference.Video(file, true));
            case REFERENCE_AUDIO -> Stream.of(new Reference.Audio(file));
            case REFERENCE_LATENTS -> Stream.of(new Reference.Latents(file, false));
            case REFERENCE_LATENTS_SOUND -> Stream.of(new Reference.Latents(file, true));
        };
    }
}
