package io.kinema.serve.request;

/**
 * A picture, video or sound of a call.
 *
 * @param name   of the field, for messages: {@code references[1]}
 * @param source where it comes from
 * @param role   what it is for
 */
record MediaInput(String name, MediaSource source, Role role) {
    /** What the client said that it is for. */
    enum Role {
        /** Shown first. */
        FIRST,
        /** Shown last. */
        LAST,
        /** A picture that is a keyframe or a reference, whichever the rest of the call makes it. */
        PICTURE,
        /** A file of any kind, which it shows itself. */
        ANY,
        REFERENCE_IMAGE,
        /** A video, with its sound where it has some. */
        REFERENCE_VIDEO,
        REFERENCE_VIDEO_SILENT,
        REFERENCE_VIDEO_SOUND,
        REFERENCE_AUDIO,
        REFERENCE_LATENTS,
        REFERENCE_LATENTS_SOUND
    }

    MediaInput as(Role other) {
        return new MediaInput(name, source, other);
    }
}
