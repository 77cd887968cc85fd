package io.kinema.engine.model;

import io.kinema.engine.Task;
import java.util.Arrays;
import java.util.Optional;

/** The parts of a model folder, by the names that {@code model_index.json} gives them. */
public enum Component {
    TEXT_ENCODER("text_encoder"),
    TOKENIZER("tokenizer"),
    PROCESSOR("processor"),
    VIDEO_VAE("vae"),
    AUDIO_VAE("audio_vae"),
    /** The transformer of t2va and fl2va. */
    TRANSFORMER("transformer"),
    /** The transformer of ref2va. */
    TRANSFORMER_REF("transformer_ref"),
    SCHEDULER("scheduler"),
    AUDIO_SCHEDULER("audio_scheduler");

    private final String key;

    Component(String key) {
        this.key = key;
    }

    /** Which component a task's transformer is. */
    public static Component transformerOf(Task task) {
        return switch (task) {
            case T2VA, FL2VA -> TRANSFORMER;
            case REF2VA -> TRANSFORMER_REF;
        };
    }

    /** The component with this key, or empty. */
    public static Optional<Component> keyed(String key) {
        return Arrays.stream(values()).filter(c -> c.key.equals(key)).findFirst();
    }

    /** True when it is a network with weights. */
    public boolean network() {
        return switch (this) {
            case TEXT_ENCODER, VIDEO_VAE, AUDIO_VAE, TRANSFORMER, TRANSFORMER_REF -> true;
            case TOKENIZER, PROCESSOR, SCHEDULER, AUDIO_SCHEDULER -> false;
        };
    }

    /** Key in the index, and the folder's name unless the index says otherwise. */
    public String key() {
        return key;
    }
}
