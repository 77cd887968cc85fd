package io.kinema.model.text;

import java.util.Optional;

/**
 * A request as the text encoder reads it. Immutable; the ids are copied in.
 * Pad tokens of pictures and videos stand in the text where their vision tokens go, one each.
 */
public final class TextEncoderInput {
    private final int[] ids;
    private final Optional<VisionInput> images;
    private final Optional<VisionInput> videos;

    private TextEncoderInput(int[] ids, Optional<VisionInput> images, Optional<VisionInput> videos) {
        this.ids = ids.clone();
        this.images = images;
        this.videos = videos;
    }

    /** Text alone. */
    public static TextEncoderInput of(int[] ids) {
        return new TextEncoderInput(ids, Optional.empty(), Optional.empty());
    }

    /** Text with pictures, videos or both. */
    public static TextEncoderInput of(int[] ids, Optional<VisionInput> images, Optional<VisionInput> videos) {
        return new TextEncoderInput(ids, images, videos);
    }

    /** Number of tokens. */
    public int length() {
        return ids.length;
    }

    public int[] ids() {
        return ids.clone();
    }

    public Optional<VisionInput> images() {
        return images;
    }

    public Optional<VisionInput> videos() {
        return videos;
    }

    boolean textOnly() {
        return images.isEmpty() && videos.isEmpty();
    }
}
