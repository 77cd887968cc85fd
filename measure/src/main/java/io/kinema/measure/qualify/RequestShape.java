package io.kinema.measure.qualify;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kinema.engine.Reference;
import io.kinema.engine.plan.Keyframe;
import io.kinema.engine.plan.ResolvedAdapter;
import io.kinema.engine.plan.ResolvedRequest;

/** What of a request decides whether a measurement of another one speaks for it: sizes, schedule, conditions and adapters, not words and seeds. */
final class RequestShape {
    private RequestShape() {
    }

    static ObjectNode of(ResolvedRequest request) {
        ObjectNode shape = JsonNodeFactory.instance.objectNode().put("task", request.task().label()).put("width", request.width())
                .put("height", request.height()).put("frames", request.frames()).put("steps", request.steps())
                .put("flow_shift", request.flowShift()).put("audio_flow_shift", request.audioFlowShift());
        ArrayNode levels = shape.putArray("levels");
        request.levels().forEach(levels::add);
        ArrayNode keyframes = shape.putArray("keyframes");
        request.keyframes().stream().map(Keyframe::anchor).forEach(anchor -> keyframes.add(anchor.label()));
        ArrayNode references = shape.putArray("references");
        request.references().stream().map(Reference::kind).forEach(references::add);
        ArrayNode adapters = shape.putArray("adapters");
        for (ResolvedAdapter adapter : request.adapters()) {
            adapters.addObject().put("sha256", adapter.sha256()).put("scale", adapter.use().scale());
        }
        return shape;
    }

    /** {@code 256x256, 39 frames, 8 evaluations, t2va}. */
    static String text(ObjectNode shape) {
        return shape.path("width").asInt() + "x" + shape.path("height").asInt() + ", " + shape.path("frames").asInt() + " frames, "
                + shape.path("steps").asInt() + " evaluations, " + shape.path("task").asText();
    }
}
