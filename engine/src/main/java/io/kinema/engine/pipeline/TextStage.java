package io.kinema.engine.pipeline;

import io.kinema.compute.Backend;
import io.kinema.compute.Tensor;
import io.kinema.compute.Workspace;
import io.kinema.engine.layout.FrameCounts;
import io.kinema.engine.model.Component;
import io.kinema.engine.model.ModelFolder;
import io.kinema.engine.preprocess.ConditionerFrames;
import io.kinema.engine.preprocess.VisionPixels;
import io.kinema.engine.preprocess.VisionProcessor;
import io.kinema.engine.prompt.Presentation;
import io.kinema.engine.prompt.PromptReference;
import io.kinema.engine.prompt.VideoTimes;
import io.kinema.engine.prompt.VisionGrid;
import io.kinema.media.image.RgbImage;
import io.kinema.model.text.PatchGrid;
import io.kinema.model.text.TextEncoderInput;
import io.kinema.model.text.VisionInput;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Presents a request to the text encoder and reads its hidden states. */
final class TextStage {
    private final ModelParts parts;
    private final VisionProcessor processor;
    private final List<VisionPixels> images = new ArrayList<>();
    private final List<VisionPixels> videos = new ArrayList<>();

    private TextStage(ModelParts parts) {
        this.parts = parts;
        ModelFolder folder = parts.folder();
        this.processor = VisionProcessor.read(folder.configOrEmpty(Component.PROCESSOR, "preprocessor_config.json"),
                folder.configOrEmpty(Component.PROCESSOR, "video_preprocessor_config.json"));
    }

    static TextStates encode(ModelParts parts, String prompt, ConditionMedia media, PipelineTap tap) {
        TextStage stage = new TextStage(parts);
        Presentation presentation = stage.present(prompt, media);
        return stage.encode(presentation, tap);
    }

    private TextStates encode(Presentation presentation, PipelineTap tap) {
        Backend backend = parts.backend();
        TextEncoderInput input = TextEncoderInput.of(presentation.tokenIds(), vision(images), vision(videos));
        try (Workspace memory = backend.workspace("text states")) {
            Tensor states = parts.textEncoder().encode(input, memory);
            float[] hidden = HostCopy.floats(backend, states);
            FiniteValues.require("encoding the text", hidden);
            int width = states.size(1);
            tap.ints("input_ids", presentation.tokenIds(), presentation.rows());
            tap.ints("text_token_tags", presentation.tags(), presentation.rows());
            tap.floats("prompt_embeds", hidden, 1, presentation.rows(), width);
            return new TextStates(hidden, presentation.tags(), width);
        }
    }

    private Presentation present(String prompt, ConditionMedia media) {
        int merge = processor.image().merge();
        return switch (media) {
            case ConditionMedia.None _ -> Presentation.ofText(parts.tokenizer(), prompt);
            case ConditionMedia.Keyframes keyframes -> Presentation.ofKeyframes(parts.tokenizer(), prompt,
                    keyframes.keyframes().stream().map(k -> image(k.picture())).toList(), merge);
            case ConditionMedia.References references -> Presentation.ofReferences(parts.tokenizer(), prompt,
                    references.references().stream().map(this::reference).toList(), merge);
        };
    }

    private PromptReference reference(ConditionMedia.Reference reference) {
        return switch (reference) {
            case ConditionMedia.Reference.Image image -> new PromptReference.Image(image(image.picture()));
            case ConditionMedia.Reference.Video video -> video(video.frames(), !video.sound().isEmpty());
            case ConditionMedia.Reference.Latents latents -> video(latents.frames(), latents.sound());
            case ConditionMedia.Reference.Audio _ -> new PromptReference.Audio();
        };
    }

    private VisionGrid image(RgbImage picture) {
        images.add(processor.image(picture));
        return images.getLast().grid();
    }

    private PromptReference video(List<RgbImage> frames, boolean sound) {
        ConditionerFrames sampled = ConditionerFrames.sample(frames.size(), FrameCounts.FPS, VideoTimes.SAMPLE_FPS,
                processor.video().temporalPatch());
        videos.add(processor.video(sampled.indices().stream().map(frames::get).toList()));
        return new PromptReference.Video(videos.getLast().grid(), sampled.blockTimestamps(), sound);
    }

    /** All pictures, or all videos, as one batch in the order of their blocks. */
    private static Optional<VisionInput> vision(List<VisionPixels> pixels) {
        if (pixels.isEmpty()) {
            return Optional.empty();
        }
        int rows = pixels.stream().mapToInt(VisionPixels::rows).reduce(0, Math::addExact);
        Tensor values = Tensor.ofFloats(Rows.join(pixels.stream().map(VisionPixels::values).toList()), rows, pixels.getFirst().columns());
        return Optional.of(new VisionInput(values, pixels.stream()
                .map(p -> new PatchGrid(p.grid().frames(), p.grid().height(), p.grid().width())).toList()));
    }
}
