package io.kinema.quality;

import java.util.Arrays;
import java.util.Collections;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;

/**
 * What a candidate is held to against its reference (same seed, same request), with the published limit: the acceptance numbers
 * of the 1Cat-vLLM H3 campaign. Declared in the order in which they are shown.
 */
public enum Gate {
    /** ||candidate - reference|| / ||reference|| of the final video latents. */
    VIDEO_LATENTS("video_latents", "relative L2 of the video latents", Sense.AT_MOST, 0.01),
    /** The same of the final audio latents. */
    AUDIO_LATENTS("audio_latents", "relative L2 of the audio latents", Sense.AT_MOST, 0.01),
    /** {@link io.kinema.quality.picture.Psnr} of all frames, in dB. */
    PSNR("psnr", "PSNR of the frames, dB", Sense.AT_LEAST, 40),
    /** {@link io.kinema.quality.picture.Ssim}, mean over the frames. */
    SSIM("ssim", "SSIM of the frames", Sense.AT_LEAST, 0.99),
    /** {@link io.kinema.quality.sound.SpectralCosine}. */
    SPECTRAL_COSINE("spectral_cosine", "spectral cosine of the sound", Sense.AT_LEAST, 0.99),
    /** {@link io.kinema.quality.sound.RmsRatio#farthest}; the limit is its largest distance from 1. */
    RMS_RATIO("rms_ratio", "RMS ratio of the sound", Sense.NEAR_ONE, 0.01),
    /** As for the latents, the largest of any other tensors: not a clip's, but held to the same limit where files of tensors are compared. */
    TENSORS("tensors", "relative L2 of the worst tensor", Sense.AT_MOST, 0.01),
    /** Tensor elements, frame bytes and samples that are not the same bits; judged where bitwise equality was asked for. */
    BITWISE("bitwise", "values that differ", Sense.AT_MOST, 0);

    /** The gates that a clip is held to; the others are for other files and questions. */
    public static final Set<Gate> OF_CLIPS = Collections.unmodifiableSet(EnumSet.range(VIDEO_LATENTS, RMS_RATIO));

    /** On which side of its limit a number passes. */
    private enum Sense { AT_MOST, AT_LEAST, NEAR_ONE }

    private final String label;
    private final String title;
    private final Sense sense;
    private final double published;

    Gate(String label, String title, Sense sense, double published) {
        this.label = label;
        this.title = title;
        this.sense = sense;
        this.published = published;
    }

    /** The gate of that {@link #label()}, if there is one. */
    public static Optional<Gate> labelled(String label) {
        return Arrays.stream(values()).filter(gate -> gate.label.equals(label)).findFirst();
    }

    /** Its name in JSON and on the command line. */
    public String label() {
        return label;
    }

    /** What it measures, for people. */
    public String title() {
        return title;
    }

    /** The limit that holds unless a user says otherwise. */
    public double published() {
        return published;
    }

    /** Whether a measured number passes; a NaN never does. */
    public boolean passes(double got, double limit) {
        return switch (sense) {
            case AT_MOST -> got <= limit;
            case AT_LEAST -> got >= limit;
            case NEAR_ONE -> got >= 1 - limit && got <= 1 + limit;
        };
    }

    /** Whether {@code limit} lets pass what the published one does not. */
    public boolean isRelaxedBy(double limit) {
        return switch (sense) {
            case AT_MOST, NEAR_ONE -> limit > published;
            case AT_LEAST -> limit < published;
        };
    }

    /** Whether a number can be a limit of this gate at all. */
    boolean takes(double limit) {
        return switch (sense) {
            case AT_MOST, NEAR_ONE -> limit >= 0 && limit < Double.POSITIVE_INFINITY;
            case AT_LEAST -> limit > Double.NEGATIVE_INFINITY && limit <= Double.POSITIVE_INFINITY;
        };
    }

    /** The limit in words: {@code <= 0.01}, {@code >= 40}, {@code 0.99 to 1.01}. */
    public String describe(double limit) {
        return switch (sense) {
            case AT_MOST -> "<= " + Numbers.plain(limit);
            case AT_LEAST -> ">= " + Numbers.plain(limit);
            case NEAR_ONE -> Numbers.plain(1 - limit) + " to " + Numbers.plain(1 + limit);
        };
    }
}
