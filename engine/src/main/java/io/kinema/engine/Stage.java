package io.kinema.engine;

/** The stages of a request, in the order they run. */
public enum Stage {
    /** Looking whether weights lie ready in the form that products read, as an earlier engine left them. Only the first request's, where weights are kept. */
    CHECKING_PREPARED_WEIGHTS("checking prepared weights"),
    /** Mapping those. */
    REUSING_PREPARED_WEIGHTS("reusing prepared weights"),
    /** Making those that are not there and keeping them for the next time. */
    PREPARING_WEIGHTS("preparing weights"),
    /** Reading configs, mapping weights, preparing them. Only what is not loaded yet. */
    LOADING("loading the model"),
    /** Tokens and vision features to the conditioning hidden state. */
    TEXT_ENCODING("encoding the text"),
    /** Keyframes and references to latents; absent from a text-only request. */
    CONDITION_ENCODING("encoding the conditions"),
    /** The loop of model evaluations. */
    DENOISING("denoising"),
    /** Video latents to frames. */
    VIDEO_DECODING("decoding the video"),
    /** Audio latents to samples. */
    AUDIO_DECODING("decoding the sound");

    private final String label;

    Stage(String label) {
        this.label = label;
    }

    /** A few words that fit after "while": {@code encoding the text}. */
    public String label() {
        return label;
    }

    /** The stage's key in run records: {@code text_encoding}. */
    public String key() {
        return name().toLowerCase(java.util.Locale.ROOT);
    }
}
