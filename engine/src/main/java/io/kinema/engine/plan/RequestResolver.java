package io.kinema.engine.plan;

import io.kinema.engine.AspectRatio;
import io.kinema.engine.BadRequestException;
import io.kinema.engine.GenerateRequest;
import io.kinema.engine.Reference;
import io.kinema.engine.Task;
import io.kinema.engine.layout.Anchor;
import io.kinema.engine.layout.FrameCounts;
import io.kinema.engine.model.ModelGeometry;
import io.kinema.engine.preprocess.CanvasRule;
import io.kinema.engine.preprocess.PixelSize;
import io.kinema.engine.preprocess.ReferenceImages;
import io.kinema.media.BadMediaException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Checks a request against a model's geometry and fills in what it leaves open. Pure but for the headers of the files
 * it names; loads no weights.
 */
public final class RequestResolver {
    /** Longest prompt, in characters. */
    public static final int MAX_PROMPT = 20_000;
    /** Most model evaluations. */
    public static final int MAX_STEPS = 1000;
    /** Most clips of one request. */
    public static final int MAX_OUTPUTS = 10;
    private static final int MIN_PICTURE_SIDE = 16;

    private final ModelGeometry model;
    private final PictureSizes pictures;
    private final Optional<MediaHeaders> media;
    private final AdapterFiles adapterFiles;

    /** For requests without adapters whose videos and sounds are not looked at: their number is checked, their lengths are not. */
    public RequestResolver(ModelGeometry model, PictureSizes pictures) {
        this(model, pictures, Optional.empty(), AdapterFiles.NONE);
    }

    /** {@link #RequestResolver(ModelGeometry, PictureSizes)} for requests with adapters. */
    public RequestResolver(ModelGeometry model, PictureSizes pictures, AdapterFiles adapterFiles) {
        this(model, pictures, Optional.empty(), adapterFiles);
    }

    /**
     * @param pictures     tells the sizes of keyframes and reference pictures
     * @param media        tells the lengths of reference videos and sounds
     * @param adapterFiles reads adapters
     */
    public RequestResolver(ModelGeometry model, PictureSizes pictures, MediaHeaders media, AdapterFiles adapterFiles) {
        this(model, pictures, Optional.of(media), adapterFiles);
    }

    private RequestResolver(ModelGeometry model, PictureSizes pictures, Optional<MediaHeaders> media, AdapterFiles adapterFiles) {
        this.model = model;
        this.pictures = pictures;
        this.media = media;
        this.adapterFiles = adapterFiles;
    }

    /** @throws BadRequestException when the request breaks a rule; the first one in the order of its fields */
    public ResolvedRequest resolve(GenerateRequest request) {
        List<String> notes = new ArrayList<>();
        requirePrompt(request.prompt());
        Task task = task(request);
        model.requireTask(task);
        ReferenceRules.check(request.references());
        List<Keyframe> keyframes = keyframes(request);
        PixelSize canvas = canvas(request, keyframes, notes);
        int frames = FrameRules.frames(request, model, notes);
        media.ifPresent(headers -> new ReferenceLengths(model, headers, frames).check(request.references()));
        List<ResolvedAdapter> adapters = AdapterRules.resolve(request.adapters(), task, adapterFiles, notes);
        Sampling sampling = sampling(request, adapters, notes);
        long seed = seed(request, notes);
        if (request.outputs() < 1 || request.outputs() > MAX_OUTPUTS) {
            throw new BadRequestException("outputs", "" + request.outputs(), "expected 1 to " + MAX_OUTPUTS);
        }
        return new ResolvedRequest(task, request.prompt(), canvas.width(), canvas.height(), frames,
                model.counts().videoLatents(frames), canvas.width() / model.spatialCompression(),
                canvas.height() / model.spatialCompression(), FrameCounts.audioLatents(frames), sampling.steps(), seed,
                request.outputs(), sampling.flowShift(), sampling.audioFlowShift(), request.noiseScheme(), keyframes, request.references(),
                adapters, sampling.levels(), notes);
    }

    private Sampling sampling(GenerateRequest request, List<ResolvedAdapter> adapters, List<String> notes) {
        Optional<ResolvedAdapter> contracted = Sampling.contracted(request, adapters, model);
        if (contracted.isPresent()) {
            return Sampling.of(request, contracted.get(), notes);
        }
        int steps = steps(request, notes);
        double flowShift = ScheduleRules.shift("flowShift", request.flowShift().orElse(model.flowShift()));
        double audioFlowShift = ScheduleRules.shift("audioFlowShift", request.audioFlowShift().orElse(model.audioFlowShift()));
        ScheduleRules.requireDistinctSteps(steps, flowShift, audioFlowShift);
        return new Sampling(steps, flowShift, audioFlowShift, List.of());
    }

    private static void requirePrompt(String prompt) {
        if (prompt.isBlank()) {
            throw new BadRequestException("prompt", "an empty text", "expected a description of what to see and hear");
        }
        if (prompt.length() > MAX_PROMPT) {
            throw new BadRequestException("prompt", prompt.length() + " characters", "expected at most " + MAX_PROMPT + "; shorten it");
        }
        if (prompt.indexOf('\0') >= 0) {
            throw new BadRequestException("prompt", "a text with a NUL character", "expected plain text; remove it");
        }
    }

    private static Task task(GenerateRequest request) {
        boolean keyframe = request.image().isPresent() || request.lastImage().isPresent();
        boolean reference = !request.references().isEmpty();
        if (keyframe && reference) {
            throw new BadRequestException("references", request.references().size() + " together with a keyframe",
                    "expected one or the other: a first or last image makes fl2va, references make ref2va");
        }
        Task inferred = reference ? Task.REF2VA : keyframe ? Task.FL2VA : Task.T2VA;
        Task task = request.task().orElse(inferred);
        if (task != inferred) {
            throw new BadRequestException("task", task.label(), switch (task) {
                case T2VA -> "which takes text alone; leave out the " + (reference ? "references" : "keyframes") + " or the task";
                case FL2VA -> "which needs a first or last image" + (reference ? " and takes no references" : "; give one");
                case REF2VA -> "which needs a reference" + (keyframe ? " and takes no keyframes" : "; give one");
            });
        }
        return task;
    }

    private static List<Keyframe> keyframes(GenerateRequest request) {
        List<Keyframe> keyframes = new ArrayList<>();
        request.image().ifPresent(file -> keyframes.add(new Keyframe(Anchor.FIRST, file)));
        request.lastImage().ifPresent(file -> keyframes.add(new Keyframe(Anchor.LAST, file)));
        return keyframes;
    }

    private PixelSize canvas(GenerateRequest request, List<Keyframe> keyframes, List<String> notes) {
        // Every picture's header is read, so that an unreadable one is refused before any weight is loaded.
        List<PictureSizes.Size> sizes = keyframes.stream()
                .map(k -> picture(k.anchor() == Anchor.FIRST ? "image" : "lastImage", k.file())).toList();
        for (Reference reference : request.references()) {
            if (reference instanceof Reference.Image image) {
                PictureSizes.Size size = picture("references", image.file());
                naming(image.file(), () -> ReferenceImages.size(size.width(), size.height(), model.referenceImageShortEdge(), model.canvasMultiple()));
            }
        }
        requireOneWayToSayIt(request);
        CanvasRule rule = CanvasRule.of(model);
        if (request.width().isPresent()) {
            return CanvasChecks.explicit(request.width().getAsInt(), request.height().getAsInt(), model);
        }
        if (request.aspectRatio().isPresent()) {
            AspectRatio ratio = request.aspectRatio().get();
            return rule.of(ratio.width(), ratio.height());
        }
        if (!sizes.isEmpty()) {
            PictureSizes.Size first = sizes.getFirst();
            PixelSize canvas = naming(keyframes.getFirst().file(), () -> rule.of(first.width(), first.height()));
            notes.add("canvas " + canvas + " from the shape of the first keyframe (" + first.width() + "x" + first.height() + ")");
            return canvas;
        }
        AspectRatio usual = model.limits().defaultAspect();
        PixelSize canvas = rule.of(usual.width(), usual.height());
        notes.add("canvas " + canvas + ", the model's own for " + usual);
        return canvas;
    }

    private static PixelSize naming(Path file, Supplier<PixelSize> rule) {
        try {
            return rule.get();
        } catch (BadRequestException e) {
            throw e.in(file);
        }
    }

    /** A picture of a few pixels shows nothing that the model could keep; it is a mistake, a tracking pixel or a placeholder. */
    private PictureSizes.Size picture(String field, Path file) {
        PictureSizes.Size size = readable(field, file);
        if (size.width() < MIN_PICTURE_SIDE || size.height() < MIN_PICTURE_SIDE) {
            throw new BadRequestException(field, size.width() + "x" + size.height() + " pixels in '" + file + "'",
                    "expected sides of at least " + MIN_PICTURE_SIDE + "; choose a larger picture");
        }
        return size;
    }

    private PictureSizes.Size readable(String field, Path file) {
        try {
            return pictures.of(file);
        } catch (BadMediaException unreadable) {
            if (Files.notExists(file)) {
                throw new BadRequestException(field, "'" + file + "', which does not exist", "expected a PNG, JPEG, WebP or HEIC file; check the path");
            }
            throw unreadable;
        }
    }

    private static void requireOneWayToSayIt(GenerateRequest request) {
        boolean width = request.width().isPresent();
        if (width != request.height().isPresent()) {
            throw new BadRequestException(width ? "width" : "height",
                    (width ? request.width() : request.height()).getAsInt() + " alone",
                    "expected width and height together, or neither of them");
        }
        if (width && request.aspectRatio().isPresent()) {
            throw new BadRequestException("aspectRatio", request.aspectRatio().get() + " together with a width and height",
                    "expected one or the other");
        }
    }

    private int steps(GenerateRequest request, List<String> notes) {
        if (request.steps().isEmpty()) {
            notes.add(model.limits().defaultSteps() + " model evaluations by default");
            return model.limits().defaultSteps();
        }
        int steps = request.steps().getAsInt();
        if (steps < 1 || steps > MAX_STEPS) {
            throw new BadRequestException("steps", "" + steps, "expected 1 to " + MAX_STEPS + " model evaluations");
        }
        return steps;
    }

    private static long seed(GenerateRequest request, List<String> notes) {
        if (request.seed().isEmpty()) {
            notes.add("seed 0 by default");
            return 0;
        }
        long seed = request.seed().getAsLong();
        if (seed < 0 || seed > Long.MAX_VALUE - MAX_OUTPUTS) {
            throw new BadRequestException("seed", "" + seed, "expected 0 to " + (Long.MAX_VALUE - MAX_OUTPUTS));
        }
        if (seed > 0xFFFFFFFFL) {
            notes.add("seed " + seed + " counts as " + (seed & 0xFFFFFFFFL) + ", the generator of the noise uses its low 32 bits");
        }
        return seed;
    }
}
