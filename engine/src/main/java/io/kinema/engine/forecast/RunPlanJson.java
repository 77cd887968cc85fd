package io.kinema.engine.forecast;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kinema.engine.record.RankJson;
import io.kinema.engine.record.ResolvedRequestJson;
import io.kinema.engine.record.UsefulWork;
import io.kinema.model.load.WeightResidency;

/** Writes a {@link RunPlan} as JSON; what run records hold too has the same names and values here. */
final class RunPlanJson {
    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;

    private RunPlanJson() {
    }

    static JsonNode of(RunPlan plan) {
        ObjectNode root = NODES.objectNode().put("schema", RunPlan.SCHEMA);
        root.set("request", ResolvedRequestJson.of(plan.request()));
        ArrayNode encodings = root.putObject("model").put("name", plan.model()).put("transformer", plan.transformer())
                .put("weight_bytes", plan.weightBytes()).putArray("transformer_encodings");
        plan.encodings().forEach(encodings::add);
        ObjectNode execution = root.putObject("execution").put("device", plan.execution().device()).put("backend", plan.execution().backend())
                .put("precision", plan.execution().precision()).put("threads", plan.execution().threads());
        RankJson.put(execution, plan.execution().ranks());
        plan.execution().fp16WeightLayout().ifPresent(layout -> execution.put("fp16_weight_layout", layout.label()));
        if (!plan.execution().choices().isEmpty()) {
            ObjectNode choices = execution.putObject("choices");
            plan.execution().choices().forEach(choices::put);
        }
        ArrayNode conditions = root.putArray("conditions");
        for (RunPlan.Condition condition : plan.conditions()) {
            ObjectNode node = conditions.addObject().put("role", condition.role()).put("file", String.valueOf(condition.file().getFileName()));
            ArrayNode labels = node.putArray("labels");
            condition.labels().forEach(labels::add);
        }
        UsefulWork.Rows rows = plan.rows();
        root.putObject("rows").put("text", rows.text()).put("video", rows.video()).put("generated_video", rows.generatedVideo())
                .put("audio", rows.audio()).put("generated_audio", rows.generatedAudio());
        plan.residual().ifPresent(residual -> residual.put(root));
        root.put("evaluations", plan.evaluations());
        root.putObject("work").put("formula", UsefulWork.FORMULA).put("useful_flops", plan.usefulFlops());
        root.set("memory", memory(plan));
        root.set("time", time(plan));
        return root;
    }

    private static ObjectNode memory(RunPlan plan) {
        ObjectNode stages = NODES.objectNode();
        plan.memory().forEach(m -> stages.putObject(m.stage().key()).put("weights_bytes", m.weights()).put("scratch_bytes", m.scratch())
                .put("heap_bytes", m.heap()).put("bytes", m.bytes()));
        ObjectNode node = NODES.objectNode().put("peak_bytes", plan.peakBytes());
        ObjectNode scratch = node.putObject("peak_scratch_bytes");
        plan.scratch().forEach(scratch::put);
        node.set("residency", residency(plan.residency()));
        ArrayNode policies = node.putArray("policies");
        plan.policies().forEach(policy -> policies.add(residency(policy)));
        node.putObject("devices").set(plan.execution().device(), stages);
        return node;
    }

    private static ObjectNode residency(RunPlan.Residency residency) {
        return NODES.objectNode().put("offload", residency.offload().map(WeightResidency::label).orElse("none")).put("resident_layers", residency.residentLayers())
                .put("host_weights", residency.host().label()).put("peak_device_bytes", residency.deviceBytes()).put("peak_host_bytes", residency.hostBytes());
    }

    private static ObjectNode time(RunPlan plan) {
        ObjectNode stages = NODES.objectNode();
        for (RunPlan.StageEstimate estimate : plan.time()) {
            ObjectNode stage = stages.putObject(estimate.stage().key());
            estimate.seconds().ifPresentOrElse(s -> stage.put("seconds", s).put("low", estimate.low()).put("high", estimate.high()),
                    () -> stage.putNull("seconds"));
            stage.put("measurements", estimate.measurements());
        }
        ObjectNode node = NODES.objectNode().put("total_seconds", plan.seconds()).put("certainty", plan.certainty());
        plan.probed().ifPresent(rate -> node.put("probed_gflops_per_second", rate / 1e9));
        node.set("stages", stages);
        return node;
    }
}
