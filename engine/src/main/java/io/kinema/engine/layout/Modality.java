package io.kinema.engine.layout;

/** What a packed row carries; the tag selects the row's AdaLN parameters in the transformer. */
public enum Modality {
    VIDEO(0), TEXT(1), AUDIO(2);

    private final int tag;

    Modality(int tag) {
        this.tag = tag;
    }

    /** The number that H3 gives the modality. */
    public int tag() {
        return tag;
    }
}
