package io.kinema.engine.pipeline;

import io.kinema.compute.Backend;
import io.kinema.compute.Tensor;
import io.kinema.compute.Workspace;
import io.kinema.engine.Stage;
import io.kinema.engine.layout.LatentShape;
import io.kinema.engine.layout.PackedLayout;
import io.kinema.engine.noise.RequestNoise;
import io.kinema.engine.preprocess.SavedLatents;
import io.kinema.media.image.RgbImage;
import io.kinema.model.StageTap;
import io.kinema.model.audio.AudioVae;
import io.kinema.model.video.CodingOptions;
import io.kinema.model.video.DiagonalPosterior;
import io.kinema.model.video.FrameSource;
import io.kinema.model.video.ImageNetPixels;
import io.kinema.model.video.VideoVae;
import java.util.ArrayList;
import java.util.List;

/** Turns the media of a request into the clean, normalised latents that condition it. */
final class ConditionEncoder {
    private final ModelParts parts;
    private final Backend backend;
    private final Clock clock;
    private final PipelineTap tap;
    private final List<float[]> visual = new ArrayList<>();
    private final List<LatentShape> shapes = new ArrayList<>();
    private final List<float[]> audio = new ArrayList<>();

    private ConditionEncoder(ModelParts parts, Clock clock, PipelineTap tap) {
        this.parts = parts;
        this.backend = parts.backend();
        this.clock = clock;
        this.tap = tap;
    }

    static Conditions encode(ModelParts parts, ConditionMedia media, Clock clock, PipelineTap tap) {
        ConditionEncoder encoder = new ConditionEncoder(parts, clock, tap);
        switch (media) {
            case ConditionMedia.None _ -> { }
            case ConditionMedia.Keyframes keyframes -> keyframes.keyframes().forEach(k -> encoder.pictures(List.of(k.picture())));
            case ConditionMedia.References references -> references.references().forEach(encoder::reference);
        }
        return new Conditions(encoder.visual, encoder.shapes, encoder.audio);
    }

    private void reference(ConditionMedia.Reference reference) {
        switch (reference) {
            case ConditionMedia.Reference.Image image -> pictures(List.of(image.picture()));
            case ConditionMedia.Reference.Video video -> {
                pictures(wholeClips(video.frames()));
                if (!video.sound().isEmpty()) {
                    sound(video.sound());
                }
            }
            case ConditionMedia.Reference.Latents saved -> latents(saved.latents(), saved.sound());
            case ConditionMedia.Reference.Audio clip -> sound(clip.sound());
        }
    }

    /** Latents of an earlier clip are what a video would be encoded to; they are taken as they are. */
    private void latents(SavedLatents saved, boolean withSound) {
        LatentShape shape = saved.shape();
        tap.floats("condition_latents_" + visual.size(), saved.video(), 1, shape.channels(), shape.frames(), shape.height(), shape.width());
        visual.add(saved.video());
        shapes.add(shape);
        if (withSound) {
            int width = saved.sound().length / saved.audioLatents() / PackedLayout.AUDIO_CHANNELS;
            audio.add(Rows.toAudioRows(saved.sound(), saved.audioLatents(), width));
        }
    }

    /** The longest beginning of the form 17n + 5 (n at least 1), so that the encoder pads nothing; shorter videos whole. */
    private List<RgbImage> wholeClips(List<RgbImage> frames) {
        int chunk = parts.folder().geometry().counts().framesPerChunk();
        int rest = parts.folder().geometry().counts().latentsPerChunk();
        int whole = Math.max(1, Math.floorDiv(frames.size() - rest, chunk)) * chunk + rest;
        return frames.subList(0, Math.min(frames.size(), whole));
    }

    /** One picture, or the frames of one video; the posterior is sampled with noise that no request's seed changes. */
    private void pictures(List<RgbImage> frames) {
        clock.check(Stage.CONDITION_ENCODING);
        VideoVae vae = parts.videoEncoder();
        RgbImage first = frames.getFirst();
        FrameSource source = ImageNetPixels.source(backend, frames.size(), first.height(), first.width(), i -> frames.get(i).rgb());
        CodingOptions options = CodingOptions.RELEASED.withListener(tile -> clock.check(Stage.CONDITION_ENCODING));
        try (Workspace memory = backend.workspace("condition moments")) {
            Tensor moments = vae.encode(source, options, memory);
            LatentShape shape = new LatentShape(vae.config().latentChannels(), moments.size(1), moments.size(2), moments.size(3));
            float[] latents = DiagonalPosterior.of(HostCopy.floats(backend, moments)).conditionLatents(RequestNoise.posterior(shape),
                    vae.config().statistics(), shape.frames() * shape.height() * shape.width());
            FiniteValues.require("encoding condition " + (visual.size() + 1), latents);
            tap.floats("condition_latents_" + visual.size(), latents, 1, shape.channels(), shape.frames(), shape.height(), shape.width());
            visual.add(latents);
            shapes.add(shape);
        }
    }

    /** Both channels of a sound as a batch of two; its posterior's mean, never noised. */
    private void sound(List<float[]> channels) {
        clock.check(Stage.CONDITION_ENCODING);
        AudioVae vae = parts.audioEncoder();
        int samples = channels.getFirst().length;
        try (Workspace memory = backend.workspace("sound posterior")) {
            Tensor mean = vae.encode(Tensor.ofFloats(Rows.join(channels), PackedLayout.AUDIO_CHANNELS, 1, samples), StageTap.NONE, memory).mean();
            int latents = mean.size(2);
            float[] rows = Rows.toAudioRows(vae.config().statistics().normalise(HostCopy.floats(backend, mean), latents), latents,
                    vae.config().latentChannels());
            FiniteValues.require("encoding sound " + (audio.size() + 1), rows);
            tap.floats("audio_condition_latents_" + audio.size(), rows, (long) latents * PackedLayout.AUDIO_CHANNELS, vae.config().latentChannels());
            audio.add(rows);
        }
    }
}
