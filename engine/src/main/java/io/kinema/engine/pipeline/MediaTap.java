package io.kinema.engine.pipeline;

import io.kinema.media.image.RgbImage;
import java.util.List;

/** Shows a tap the media that the model is conditioned on. */
final class MediaTap {
    private static final int RGB = 3;

    private MediaTap() {
    }

    static void show(ConditionMedia media, PipelineTap tap) {
        if (!tap.looks()) {
            return;
        }
        switch (media) {
            case ConditionMedia.None _ -> { }
            case ConditionMedia.Keyframes keyframes -> {
                for (int i = 0; i < keyframes.keyframes().size(); i++) {
                    picture("keyframe_on_canvas_" + i, keyframes.keyframes().get(i).picture(), tap);
                }
            }
            case ConditionMedia.References references -> {
                for (int i = 0; i < references.references().size(); i++) {
                    reference("normalized_reference_" + i, references.references().get(i), tap);
                }
            }
        }
    }

    private static void reference(String name, ConditionMedia.Reference reference, PipelineTap tap) {
        switch (reference) {
            case ConditionMedia.Reference.Image image -> picture(name + "_image", image.picture(), tap);
            case ConditionMedia.Reference.Video video -> {
                frames(name + "_frames", video.frames(), tap);
                sound(name + "_audio", video.sound(), tap);
            }
            case ConditionMedia.Reference.Latents latents -> frames(name + "_frames", latents.frames(), tap);
            case ConditionMedia.Reference.Audio audio -> sound(name + "_audio", audio.sound(), tap);
        }
    }

    private static void picture(String name, RgbImage picture, PipelineTap tap) {
        tap.bytes(name, picture.rgb().clone(), picture.height(), picture.width(), RGB);
    }

    private static void frames(String name, List<RgbImage> frames, PipelineTap tap) {
        RgbImage first = frames.getFirst();
        byte[] all = new byte[Math.multiplyExact(frames.size(), first.rgb().length)];
        for (int i = 0; i < frames.size(); i++) {
            System.arraycopy(frames.get(i).rgb(), 0, all, i * first.rgb().length, first.rgb().length);
        }
        tap.bytes(name, all, frames.size(), first.height(), first.width(), RGB);
    }

    private static void sound(String name, List<float[]> channels, PipelineTap tap) {
        if (!channels.isEmpty()) {
            tap.floats(name, Rows.join(channels), channels.size(), channels.getFirst().length);
        }
    }
}
