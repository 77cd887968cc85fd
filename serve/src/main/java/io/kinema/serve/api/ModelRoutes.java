package io.kinema.serve.api;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.javalin.http.Context;
import io.kinema.engine.Task;
import io.kinema.engine.layout.FrameCounts;
import io.kinema.engine.model.ModelGeometry;
import io.kinema.engine.plan.RequestResolver;
import io.kinema.serve.http.Answers;
import io.kinema.serve.http.Caller;
import io.kinema.serve.problem.Problem;
import io.kinema.serve.problem.ProblemKind;
import io.kinema.serve.request.Offer;

/** {@code /v1/models} as OpenAI has it, and {@code /v1/capabilities}: what a page needs to know before it offers anything. */
final class ModelRoutes {
    private static final int OK = 200;
    private final Offer offer;
    private final boolean paths;

    ModelRoutes(Offer offer) {
        this.offer = offer;
        this.paths = offer.files().isPresent();
    }

    void list(Context call, Caller caller) {
        ObjectNode node = JsonNodeFactory.instance.objectNode().put("object", "list");
        node.putArray("data").add(model());
        Answers.json(call, OK, node);
    }

    void get(Context call, Caller caller) {
        String id = call.pathParam("id");
        if (!id.equals(offer.model()) && !id.equals(Offer.RELEASED)) {
            throw Problem.field(ProblemKind.NOT_FOUND, "model", "'" + Problem.printable(id, 60) + "'", "expected " + offer.model());
        }
        Answers.json(call, OK, model());
    }

    private ObjectNode model() {
        return JsonNodeFactory.instance.objectNode().put("id", offer.model()).put("object", "model").put("created", 0).put("owned_by", "MiniMax");
    }

    void capabilities(Context call, Caller caller) {
        ModelGeometry geometry = offer.geometry();
        ObjectNode node = JsonNodeFactory.instance.objectNode().put("object", "capabilities").put("model", offer.model());
        ArrayNode tasks = node.putArray("tasks");
        geometry.tasks().stream().map(Task::label).forEach(tasks::add);
        node.putObject("canvas").put("multiple", geometry.canvasMultiple()).put("short_edge", geometry.canvasShortEdge())
                .put("most_pixels", geometry.canvasMaxPixels()).put("default_aspect_ratio", geometry.limits().defaultAspect().toString());
        FrameCounts counts = geometry.counts();
        node.putObject("length").put("frames_per_second", FrameCounts.FPS).put("frames_step", counts.framesPerChunk())
                .put("frames_offset", counts.latentsPerChunk()).put("default_frames", geometry.limits().defaultFrames())
                .put("least_seconds", geometry.limits().minSeconds()).put("most_seconds", geometry.limits().maxSeconds());
        node.putObject("sampling").put("default_steps", geometry.limits().defaultSteps()).put("most_steps", RequestResolver.MAX_STEPS)
                .put("flow_shift", geometry.flowShift()).put("audio_flow_shift", geometry.audioFlowShift());
        node.put("most_outputs", RequestResolver.MAX_OUTPUTS).put("longest_prompt", RequestResolver.MAX_PROMPT);
        ArrayNode adapters = node.putArray("adapters");
        offer.adapters().forEach((name, use) -> adapters.addObject().put("name", name).put("scale", use.scale()));
        node.putObject("sources").put("upload", true).put("address", true).put("data_address", true).put("earlier_video", true).put("server_path", paths);
        Answers.json(call, OK, node);
    }
}
