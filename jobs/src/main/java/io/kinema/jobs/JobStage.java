package io.kinema.jobs;

import io.kinema.engine.Stage;
import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;

/** What is being done for a job at the moment: the engine's own stages, and what comes before and after them. */
public enum JobStage {
    /** It waits. */
    QUEUED,
    /** The engine process is being started, because it is not running yet or has died. */
    STARTING_ENGINE,
    /** Pictures, videos and sounds come from the storage. */
    FETCHING_INPUTS,
    /** {@link Stage#CHECKING_PREPARED_WEIGHTS}. */
    CHECKING_PREPARED_WEIGHTS,
    /** {@link Stage#REUSING_PREPARED_WEIGHTS}. */
    REUSING_PREPARED_WEIGHTS,
    /** {@link Stage#PREPARING_WEIGHTS}. */
    PREPARING_WEIGHTS,
    /** {@link Stage#LOADING}. */
    LOADING,
    /** {@link Stage#TEXT_ENCODING}. */
    TEXT_ENCODING,
    /** {@link Stage#CONDITION_ENCODING}. */
    CONDITION_ENCODING,
    /** {@link Stage#DENOISING}. */
    DENOISING,
    /** {@link Stage#VIDEO_DECODING}. */
    VIDEO_DECODING,
    /** {@link Stage#AUDIO_DECODING}. */
    AUDIO_DECODING,
    /** The MP4 file is made and goes to the storage. */
    SAVING,
    /** Nothing more is done. */
    FINISHED;

    /** The name in databases and JSON: {@code text_encoding}. */
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** The stage with this label, or empty. */
    public static Optional<JobStage> labelled(String label) {
        return Arrays.stream(values()).filter(s -> s.label().equals(label)).findFirst();
    }

    /** The engine's stage under its own name. */
    public static JobStage of(Stage stage) {
        return valueOf(stage.name());
    }
}
