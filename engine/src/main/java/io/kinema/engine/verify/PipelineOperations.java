package io.kinema.engine.verify;

import com.fasterxml.jackson.databind.JsonNode;
import io.kinema.compute.MatrixLayout;
import io.kinema.compute.Precision;
import io.kinema.engine.AspectRatio;
import io.kinema.engine.Cancellation;
import io.kinema.engine.GenerateRequest;
import io.kinema.engine.GraphReplay;
import io.kinema.engine.ProgressListener;
import io.kinema.engine.Task;
import io.kinema.engine.model.ModelFolder;
import io.kinema.engine.model.ModelGeometry;
import io.kinema.engine.pipeline.Clock;
import io.kinema.engine.pipeline.H3Pipeline;
import io.kinema.engine.pipeline.ModelParts;
import io.kinema.engine.pipeline.PipelineInput;
import io.kinema.engine.plan.PictureSizes;
import io.kinema.engine.plan.RequestResolver;
import io.kinema.engine.plan.ResolvedRequest;
import io.kinema.engine.prepared.PreparedWeights;
import io.kinema.media.image.ImageReader;
import io.kinema.media.image.RgbImage;
import io.kinema.model.load.HostWeights;
import java.util.Map;
import java.util.Optional;

/** Whole requests, resolved and run as the engine does; the case's own canvas rule and duration limit replace the model's. */
final class PipelineOperations implements Operations {
    private static final PictureSizes SIZES = file -> {
        RgbImage picture = ImageReader.read(file);
        return new PictureSizes.Size(picture.width(), picture.height());
    };

    /** What the reference takes when a request gives neither a size nor a keyframe. */
    private static final AspectRatio REFERENCE_ASPECT = new AspectRatio(16, 9);

    @Override
    public Map<String, Operation> byName() {
        return Map.of("generate", PipelineOperations::generate);
    }

    private static Answer generate(Question q) {
        ModelFolder model = ModelFolder.open(q.weights());
        ModelGeometry geometry = geometry(q, model.geometry());
        Task task = Task.labelled(q.text("task")).orElseThrow(() -> q.bad("task", q.argument("task"), "expected t2va, fl2va or ref2va"));
        geometry.requireTask(task);
        ResolvedRequest resolved = new RequestResolver(geometry.forEveryTask(), SIZES).resolve(request(q, task));
        PipelineInput input = task == Task.REF2VA ? withReferences(q, geometry, resolved) : PipelineInput.of(resolved, geometry);
        PipelineRecorder recorder = new PipelineRecorder(q.stages());
        Clock clock = new Clock(ProgressListener.NONE, new Cancellation());
        try (ModelParts parts = parts(q, model);
             H3Pipeline pipeline = H3Pipeline.prepare(parts, input, clock, recorder, GraphReplay.OFF)) {
            pipeline.make(resolved.seed(), clock, recorder);
        }
        return recorder.answer();
    }

    private static ModelParts parts(Question q, ModelFolder model) {
        return new ModelParts(model, q.run().ranks(), q.run().plan(q.check()).precision(), Optional.empty(), Optional.empty(), MatrixLayout.ROW, Optional.empty(),
                HostWeights.MMAP, Precision.FP32, q.run().options().ranks().residual().sharding(),
                PreparedWeights.off());
    }

    private static ModelGeometry geometry(Question q, ModelGeometry model) {
        long cap = q.optional("canvas_max_pixels").asLong(model.canvasMaxPixels());
        // The reference holds only canvases that it chooses itself to the cap.
        long asked = present(q, "width") && present(q, "height") ? (long) q.integer("width") * q.integer("height") : 0;
        ModelGeometry geometry = model.withCanvas(q.optional("canvas_short_edge").asInt(model.canvasShortEdge()), Math.max(cap, asked),
                q.optional("reference_image_short_edge").asInt(model.referenceImageShortEdge()));
        return q.optional("min_duration_seconds").isNumber() ? geometry.withMinSeconds(q.number("min_duration_seconds")) : geometry;
    }

    private static GenerateRequest request(Question q, Task task) {
        // References are tensors of the case, not files: the request resolves without them.
        GenerateRequest.Builder request = GenerateRequest.prompt(q.text("prompt")).task(task == Task.REF2VA ? Task.T2VA : task)
                .frames(q.integer("num_frames")).steps(q.integer("sigma_points") - 1).seed(q.longInteger("seed"));
        if (present(q, "width") && present(q, "height")) {
            request.size(q.integer("width"), q.integer("height"));
        } else if (!present(q, "image") && !present(q, "last_image")) {
            request.aspectRatio(REFERENCE_ASPECT);
        }
        if (present(q, "image")) {
            request.image(q.files().file(q.text("image")));
        }
        if (present(q, "last_image")) {
            request.lastImage(q.files().file(q.text("last_image")));
        }
        if (present(q, "flow_shift")) {
            request.flowShift(q.number("flow_shift"));
        }
        if (present(q, "audio_flow_shift")) {
            request.audioFlowShift(q.number("audio_flow_shift"));
        }
        return request.build();
    }

    private static PipelineInput withReferences(Question q, ModelGeometry geometry, ResolvedRequest resolved) {
        PipelineInput plain = PipelineInput.of(resolved, geometry);
        return new PipelineInput(Task.REF2VA, plain.prompt(), CaseReferences.media(q, geometry, resolved.frames()), plain.target(), plain.channels(),
                plain.audioChannels(), plain.patch(), plain.video(), plain.audio(), plain.noise(), plain.adapters());
    }

    private static boolean present(Question q, String arg) {
        JsonNode node = q.optional(arg);
        return !node.isMissingNode() && !node.isNull();
    }
}
