package io.kinema.engine.layout;

/** The rows that one reference of a ref2va request puts into the packed sequence, by the shape of its latents. */
public sealed interface ReferenceBlock {
    /** Video rows of this reference under {@code patch}. */
    int videoRows(Patch patch);

    /** Audio rows of this reference, both channels. */
    int audioRows();

    /**
     * A picture; it takes one unit of rotary time.
     *
     * @param height latent rows
     * @param width  latent columns
     */
    record Image(int height, int width) implements ReferenceBlock {
        public Image {
            requirePositive("image reference", height, width);
        }

        @Override
        public int videoRows(Patch patch) {
            return patch.rowsPerFrame(height, width);
        }

        @Override
        public int audioRows() {
            return 0;
        }
    }

    /**
     * A video, its soundtrack's rows directly in front of its own; both start at the same rotary time.
     *
     * @param frames       latent frames
     * @param height       latent rows
     * @param width        latent columns
     * @param audioLatents audio latents per channel of its soundtrack, 0 when it is silent
     */
    record Video(int frames, int height, int width, int audioLatents) implements ReferenceBlock {
        public Video {
            requirePositive("video reference", frames, height, width);
            if (audioLatents < 0) {
                throw new IllegalArgumentException("video reference: got " + audioLatents + " audio latents, expected 0 or more");
            }
        }

        @Override
        public int videoRows(Patch patch) {
            return Math.multiplyExact(frames, patch.rowsPerFrame(height, width));
        }

        @Override
        public int audioRows() {
            return Math.multiplyExact(audioLatents, PackedLayout.AUDIO_CHANNELS);
        }
    }

    /**
     * A sound clip.
     *
     * @param latents audio latents per channel
     */
    record Audio(int latents) implements ReferenceBlock {
        public Audio {
            requirePositive("audio reference", latents);
        }

        @Override
        public int videoRows(Patch patch) {
            return 0;
        }

        @Override
        public int audioRows() {
            return Math.multiplyExact(latents, PackedLayout.AUDIO_CHANNELS);
        }
    }

    private static void requirePositive(String name, int... sizes) {
        for (int size : sizes) {
            if (size < 1) {
                throw new IllegalArgumentException(name + ": got size " + size + ", expected 1 or more");
            }
        }
    }
}
