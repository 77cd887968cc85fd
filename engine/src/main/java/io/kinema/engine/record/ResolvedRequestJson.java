package io.kinema.engine.record;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kinema.engine.Reference;
import io.kinema.engine.plan.Keyframe;
import io.kinema.engine.plan.ResolvedAdapter;
import io.kinema.engine.plan.ResolvedRequest;
import io.kinema.model.adapter.SamplingContract;

/** Writes a {@link ResolvedRequest} as JSON, for run records and {@code plan --json}. Files appear by name, not by path. */
public final class ResolvedRequestJson {
    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;

    private ResolvedRequestJson() {
    }

    public static ObjectNode of(ResolvedRequest request) {
        ObjectNode node = NODES.objectNode();
        node.put("task", request.task().label()).put("prompt", request.prompt()).put("width", request.width())
                .put("height", request.height()).put("frames", request.frames()).put("seconds", request.seconds())
                .put("steps", request.steps()).put("seed", request.seed()).put("outputs", request.outputs())
                .put("flow_shift", request.flowShift()).put("audio_flow_shift", request.audioFlowShift())
                .put("noise_scheme", request.noiseScheme().label()).put("latent_frames", request.latentFrames())
                .put("latent_width", request.latentWidth()).put("latent_height", request.latentHeight())
                .put("audio_latents", request.audioLatents());
        ArrayNode keyframes = node.putArray("keyframes");
        for (Keyframe keyframe : request.keyframes()) {
            keyframes.addObject().put("anchor", keyframe.anchor().label()).put("file", name(keyframe.file()));
        }
        ArrayNode references = node.putArray("references");
        for (Reference reference : request.references()) {
            references.addObject().put("kind", reference.kind()).put("file", name(reference.file()));
        }
        ArrayNode adapters = node.putArray("adapters");
        request.adapters().forEach(adapter -> adapters.add(adapter(adapter)));
        node.set("notes", RunRecordJson.texts(request.notes()));
        return node;
    }

    private static ObjectNode adapter(ResolvedAdapter adapter) {
        ObjectNode node = NODES.objectNode().put("file", adapter.use().name()).put("sha256", adapter.sha256()).put("scale", adapter.use().scale())
                .put("artefact", adapter.recognition().artefact()).put("recognised_by", adapter.recognition().by()).put("alpha", adapter.alpha().value())
                .put("modules", adapter.modules()).put("rank", adapter.rank()).put("fused", adapter.fused());
        adapter.contract().ifPresent(contract -> node.set("contract", contract(contract)));
        return node;
    }

    /** How an adapter must be sampled. */
    public static ObjectNode contract(SamplingContract contract) {
        ObjectNode node = NODES.objectNode().put("name", contract.name()).put("evaluations", contract.evaluations())
                .put("flow_shift", contract.videoShift()).put("audio_flow_shift", contract.audioShift());
        node.set("tasks", RunRecordJson.texts(contract.tasks()));
        ArrayNode levels = node.putArray("levels");
        contract.schedule().forEach(levels::add);
        return node;
    }

    private static String name(java.nio.file.Path file) {
        return file.getFileName() == null ? file.toString() : file.getFileName().toString();
    }
}
