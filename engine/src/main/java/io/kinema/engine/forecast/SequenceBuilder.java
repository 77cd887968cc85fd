package io.kinema.engine.forecast;

import io.kinema.engine.Reference;
import io.kinema.engine.layout.FrameCounts;
import io.kinema.engine.layout.LatentShape;
import io.kinema.engine.layout.PackedLayout;
import io.kinema.engine.layout.ReferenceBlock;
import io.kinema.engine.layout.Target;
import io.kinema.engine.model.ModelGeometry;
import io.kinema.engine.plan.Keyframe;
import io.kinema.engine.plan.MediaHeaders;
import io.kinema.engine.plan.PictureSizes;
import io.kinema.engine.plan.ResolvedRequest;
import io.kinema.engine.preprocess.CanvasRule;
import io.kinema.engine.preprocess.ConditionerFrames;
import io.kinema.engine.preprocess.PixelSize;
import io.kinema.engine.preprocess.ReferenceImages;
import io.kinema.engine.preprocess.ReferenceVideos;
import io.kinema.engine.preprocess.SavedLatents;
import io.kinema.engine.preprocess.VisionProcessor;
import io.kinema.engine.prompt.H3Tokenizer;
import io.kinema.engine.prompt.Presentation;
import io.kinema.engine.prompt.PromptReference;
import io.kinema.engine.prompt.VideoTimes;
import io.kinema.engine.prompt.VisionGrid;
import io.kinema.media.container.MediaHeader;
import java.util.ArrayList;
import java.util.List;

/** Lays out the sequence of a request from the headers of its files; for one request. */
final class SequenceBuilder {
    private final ResolvedRequest request;
    private final ModelGeometry model;
    private final ModelSizes sizes;
    private final PictureSizes pictureSizes;
    private final MediaHeaders headers;
    private final List<Sequence.Pixels> pictures = new ArrayList<>();
    private final List<Integer> sounds = new ArrayList<>();
    private final List<Sequence.Decoded> decoded = new ArrayList<>();
    private final List<PromptReference> prompt = new ArrayList<>();
    private final List<ReferenceBlock> blocks = new ArrayList<>();
    private int imagePatches;
    private int videoPatches;
    private long sourceBytes;

    SequenceBuilder(ResolvedRequest request, ModelGeometry model, ModelSizes sizes, PictureSizes pictureSizes, MediaHeaders headers) {
        this.request = request;
        this.model = model;
        this.sizes = sizes;
        this.pictureSizes = pictureSizes;
        this.headers = headers;
    }

    Sequence build(H3Tokenizer tokenizer) {
        request.keyframes().forEach(k -> {
            source(pictureSizes.of(k.file()));
            picture(new PixelSize(request.width(), request.height()));
        });
        request.references().forEach(this::reference);
        Presentation presentation = prompt.isEmpty() ? Presentation.ofText(tokenizer, request.prompt())
                : Presentation.ofReferences(tokenizer, request.prompt(), prompt, sizes.processor().image().merge());
        Target target = new Target(request.latentFrames(), request.latentHeight(), request.latentWidth(), request.audioLatents());
        PackedLayout layout = request.references().isEmpty()
                ? PackedLayout.ofKeyframes(presentation.tags(), target, model.patch(), request.keyframes().stream().map(Keyframe::anchor).toList())
                : PackedLayout.ofReferences(presentation.tags(), target, model.patch(), blocks);
        return new Sequence(layout, pictures, sounds, imagePatches, videoPatches, decoded, sourceBytes);
    }

    private void reference(Reference reference) {
        switch (reference) {
            case Reference.Image image -> {
                PictureSizes.Size size = pictureSizes.of(image.file());
                source(size);
                picture(ReferenceImages.size(size.width(), size.height(), model.referenceImageShortEdge(), model.canvasMultiple()));
            }
            case Reference.Video video -> video(video, headers.of(video.file()));
            case Reference.Latents latents -> latents(latents);
            case Reference.Audio audio -> {
                int latents = sound(headers.of(audio.file()).sound().orElseThrow());
                prompt.add(new PromptReference.Audio());
                blocks.add(new ReferenceBlock.Audio(latents));
            }
        }
    }

    private void source(PictureSizes.Size size) {
        sourceBytes += 3L * size.width() * size.height();
    }

    private void picture(PixelSize size) {
        pictures.add(new Sequence.Pixels(1, size.height(), size.width()));
        PixelSize seen = sizes.processor().imageSize(size.width(), size.height());
        VisionGrid grid = grid(sizes.processor().image(), 1, seen);
        imagePatches += grid.height() * grid.width();
        prompt.add(new PromptReference.Image(grid));
        blocks.add(new ReferenceBlock.Image(size.height() / model.spatialCompression(), size.width() / model.spatialCompression()));
    }

    private void video(Reference.Video reference, MediaHeader header) {
        MediaHeader.Video video = header.video().orElseThrow();
        PixelSize canvas = CanvasRule.of(model).of(video.width(), video.height());
        int frames = ReferenceVideos.resampleIndices(Math.toIntExact(video.frames()), video.frameRate(), request.frames(), FrameCounts.FPS).length;
        double read = Math.min(video.frames(), Math.ceil(request.frames() * video.frameRate() / FrameCounts.FPS));
        sourceBytes += (long) (3 * read * video.width() * video.height());
        seen(frames, canvas, reference.sound());
        int whole = Math.max(1, Math.floorDiv(frames - model.counts().latentsPerChunk(), model.counts().framesPerChunk()))
                * model.counts().framesPerChunk() + model.counts().latentsPerChunk();
        int kept = Math.min(frames, whole);
        pictures.add(new Sequence.Pixels(kept, canvas.height(), canvas.width()));
        blocks.add(new ReferenceBlock.Video(sizes.video().timing().latentFrames(kept), canvas.height() / model.spatialCompression(),
                canvas.width() / model.spatialCompression(), reference.sound() ? sound(header.sound().orElseThrow()) : 0));
    }

    private void latents(Reference.Latents reference) {
        SavedLatents.Header saved = SavedLatents.header(reference.file(), model);
        LatentShape shape = saved.video().withFrames(Math.min(saved.video().frames(), request.latentFrames()));
        PixelSize canvas = new PixelSize(shape.width() * model.spatialCompression(), shape.height() * model.spatialCompression());
        seen(model.counts().frames(shape.frames()), canvas, reference.sound());
        decoded.add(new Sequence.Decoded(shape.frames(), shape.height(), shape.width()));
        blocks.add(new ReferenceBlock.Video(shape.frames(), shape.height(), shape.width(),
                reference.sound() ? Math.min(saved.audioLatents(), request.audioLatents()) : 0));
    }

    /** What the text encoder sees of a video. */
    private void seen(int frames, PixelSize canvas, boolean withSound) {
        VisionProcessor.Geometry rules = sizes.processor().video();
        ConditionerFrames sampled = ConditionerFrames.sample(frames, FrameCounts.FPS, VideoTimes.SAMPLE_FPS, rules.temporalPatch());
        int count = sampled.indices().size();
        VisionGrid grid = grid(rules, Math.ceilDiv(count, rules.temporalPatch()), sizes.processor().videoSize(count, canvas.width(), canvas.height()));
        videoPatches += grid.frames() * grid.height() * grid.width();
        prompt.add(new PromptReference.Video(grid, sampled.blockTimestamps(), withSound));
    }

    private static VisionGrid grid(VisionProcessor.Geometry rules, int frames, PixelSize size) {
        return new VisionGrid(frames, size.height() / rules.patch(), size.width() / rules.patch());
    }

    /** Audio latents of a sound, cut to the clip's length at its own rate and resampled. */
    private int sound(MediaHeader.Sound sound) {
        double seconds = Math.min(sound.seconds(), (double) request.frames() / FrameCounts.FPS);
        long kept = Math.max(1, (long) (seconds * sound.sampleRate()));
        int samples = Math.toIntExact(Math.ceilDiv(kept * model.sampleRate(), sound.sampleRate()));
        sounds.add(samples);
        sourceBytes += (long) (sound.seconds() * sound.sampleRate() * sound.channels() * Float.BYTES);
        return Math.ceilDiv(samples, model.audioHop());
    }
}
