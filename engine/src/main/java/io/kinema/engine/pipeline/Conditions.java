package io.kinema.engine.pipeline;

import io.kinema.engine.layout.LatentShape;
import io.kinema.engine.layout.PackedLayout;
import io.kinema.engine.layout.ReferenceBlock;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/**
 * Encoded conditions in packed order.
 *
 * @param visual  normalised latents of each picture and video, clean
 * @param shapes  their shapes
 * @param audio   normalised rows of each sound, all left then all right, clean
 */
record Conditions(List<float[]> visual, List<LatentShape> shapes, List<float[]> audio) {
    /** A text-only request has none. */
    static final Conditions NONE = new Conditions(List.of(), List.of(), List.of());

    Conditions {
        visual = List.copyOf(visual);
        shapes = List.copyOf(shapes);
        audio = List.copyOf(audio);
    }

    /** What each reference occupies in the packed sequence; both lists skip the references they do not apply to. */
    List<ReferenceBlock> blocks(ConditionMedia.References references, int audioChannels) {
        Iterator<LatentShape> pictures = shapes.iterator();
        Iterator<Integer> sounds = audio.stream().map(rows -> rows.length / audioChannels / PackedLayout.AUDIO_CHANNELS).iterator();
        List<ReferenceBlock> blocks = new ArrayList<>();
        for (ConditionMedia.Reference reference : references.references()) {
            blocks.add(switch (reference) {
                case ConditionMedia.Reference.Image _ -> {
                    LatentShape shape = pictures.next();
                    yield new ReferenceBlock.Image(shape.height(), shape.width());
                }
                case ConditionMedia.Reference.Video video -> {
                    LatentShape shape = pictures.next();
                    yield new ReferenceBlock.Video(shape.frames(), shape.height(), shape.width(), video.sound().isEmpty() ? 0 : sounds.next());
                }
                case ConditionMedia.Reference.Latents latents -> {
                    LatentShape shape = pictures.next();
                    yield new ReferenceBlock.Video(shape.frames(), shape.height(), shape.width(), latents.sound() ? sounds.next() : 0);
                }
                case ConditionMedia.Reference.Audio _ -> new ReferenceBlock.Audio(sounds.next());
            });
        }
        return blocks;
    }
}
