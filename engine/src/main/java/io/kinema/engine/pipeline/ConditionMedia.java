package io.kinema.engine.pipeline;

import io.kinema.engine.layout.Anchor;
import io.kinema.engine.preprocess.SavedLatents;
import io.kinema.media.image.RgbImage;
import java.util.List;

/** Pictures, videos and sounds that a request is conditioned on, already of the sizes and rates that the model wants. */
public sealed interface ConditionMedia {
    /** Text alone. */
    record None() implements ConditionMedia {
    }

    /** One or two keyframes of the canvas' size, in packed order. */
    record Keyframes(List<Keyframe> keyframes) implements ConditionMedia {
        public Keyframes {
            keyframes = List.copyOf(keyframes);
        }
    }

    /** A keyframe on the canvas. */
    record Keyframe(Anchor anchor, RgbImage picture) {
    }

    /** References in packed order. */
    record References(List<Reference> references) implements ConditionMedia {
        public References {
            references = List.copyOf(references);
        }
    }

    /** One reference. Sounds are stereo at the model's rate: left, right. */
    sealed interface Reference {
        /** A picture of the size that references have. */
        record Image(RgbImage picture) implements Reference {
        }

        /**
         * A video at 24 frames a second on its own canvas.
         *
         * @param frames of one size, no more than are generated
         * @param sound  empty, or left and right of its soundtrack
         */
        record Video(List<RgbImage> frames, List<float[]> sound) implements Reference {
            public Video {
                frames = List.copyOf(frames);
                sound = List.copyOf(sound);
            }
        }

        /**
         * The latents of an earlier clip in place of a video.
         *
         * @param latents cut to what is generated
         * @param sound   whether their sound is a condition too
         * @param frames  what they decode to, for the text encoder; empty until {@link #decoded}
         */
        record Latents(SavedLatents latents, boolean sound, List<RgbImage> frames) implements Reference {
            public Latents {
                frames = List.copyOf(frames);
            }

            /** The same with its frames. */
            public Latents decoded(List<RgbImage> pictures) {
                return new Latents(latents, sound, pictures);
            }
        }

        /** @param sound left and right */
        record Audio(List<float[]> sound) implements Reference {
            public Audio {
                sound = List.copyOf(sound);
            }
        }
    }
}
