package io.kinema.engine.noise;

/**
 * Which generators a request's noise comes from. Both give the same video noise for a request without visual conditions;
 * audio noise, and with conditions the video noise, differ.
 */
public enum NoiseScheme {
    /** One generator for everything, drawn in the order conditions, video, audio: the reference pipeline's. */
    DIFFUSERS,
    /**
     * A fresh generator with the request's seed for every stream: each condition, the video, the audio. A condition draws
     * {@code max(video frames + all visual condition frames, its own frames)} frames and keeps its own first ones.
     */
    ONECAT
}
