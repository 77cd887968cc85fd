package io.kinema.engine.record;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kinema.engine.plan.ResolvedRequest;
import java.util.List;

/** Writes a {@link RunRecord} as JSON. Numbers that are not finite become null, since JSON has none. */
final class RunRecordJson {
    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;

    private RunRecordJson() {
    }

    static JsonNode of(RunRecord run) {
        ObjectNode root = NODES.objectNode();
        root.put("schema", RunRecord.SCHEMA);
        root.put("created", run.created().toString());
        root.set("request", ResolvedRequestJson.of(run.request()));
        root.set("output", output(run));
        root.set("model", NODES.objectNode().put("name", run.model().name()).put("transformer", run.model().transformer())
                .put("sha256", run.model().sha256()).put("transformer_sha256", run.model().transformerSha256()));
        root.set("engine", engine(run.engine()));
        root.set("host", host(run.host()));
        root.set("execution", execution(run.execution()));
        root.set("rows", NODES.objectNode().put("text", run.rows().text()).put("video", run.rows().video())
                .put("generated_video", run.rows().generatedVideo()).put("audio", run.rows().audio())
                .put("generated_audio", run.rows().generatedAudio()));
        root.set("schedule", schedule(run.schedule()));
        root.set("stages", stages(run));
        root.set("steps", steps(run));
        root.set("work", work(run));
        root.set("memory", memory(run.memory()));
        root.set("sound", sound(run.sound()));
        root.set("warnings", texts(run.warnings()));
        return root;
    }

    private static ObjectNode execution(RunRecord.Execution execution) {
        ObjectNode node = NODES.objectNode().put("device", execution.device()).put("backend", execution.backend())
                .put("precision", execution.precision()).put("threads", execution.threads());
        if (!execution.choices().isEmpty()) {
            ObjectNode choices = node.putObject("choices");
            execution.choices().forEach(choices::put);
        }
        return node;
    }

    private static ObjectNode output(RunRecord run) {
        ResolvedRequest r = run.request();
        return NODES.objectNode().put("index", run.output().index()).put("seed", run.output().seed()).put("width", r.width())
                .put("height", r.height()).put("frames", r.frames()).put("frames_per_second", run.framesPerSecond())
                .put("seconds", r.seconds()).put("samples", run.sound().samples()).put("sample_rate", run.sound().sampleRate());
    }

    private static ObjectNode engine(RunRecord.Engine engine) {
        ObjectNode libraries = NODES.objectNode();
        engine.libraries().forEach(libraries::put);
        ObjectNode node = NODES.objectNode().put("version", engine.version());
        node.set("libraries", libraries);
        return node;
    }

    private static ObjectNode memory(RunRecord.Memory memory) {
        ObjectNode scratch = NODES.objectNode();
        memory.scratchBytes().forEach(scratch::put);
        ObjectNode node = NODES.objectNode().put("peak_resident_bytes", memory.peakResidentBytes());
        node.set("peak_scratch_bytes", scratch);
        return node;
    }

    private static ObjectNode host(HostFacts host) {
        return NODES.objectNode().put("processor", host.processor()).put("cores", host.cores())
                .put("memory_bytes", host.memoryBytes()).put("system", host.system()).put("java", host.java());
    }

    private static ObjectNode schedule(RunRecord.Schedule schedule) {
        ObjectNode node = NODES.objectNode();
        node.set("sigmas", floats(schedule.sigmas()));
        node.set("audio_sigmas", floats(schedule.audioSigmas()));
        return node;
    }

    private static ObjectNode stages(RunRecord run) {
        ObjectNode node = NODES.objectNode();
        run.stages().forEach(s -> node.put(s.stage().key() + "_seconds", s.seconds()));
        return node.put("total_seconds", run.seconds());
    }

    private static ArrayNode steps(RunRecord run) {
        ArrayNode array = NODES.arrayNode();
        for (StepTime step : run.steps()) {
            array.add(NODES.objectNode().put("index", step.index()).put("sigma", step.sigma())
                    .put("audio_sigma", step.audioSigma()).put("seconds", step.seconds())
                    .put("useful_flops", step.usefulFlops()));
        }
        return array;
    }

    private static ObjectNode work(RunRecord run) {
        double seconds = run.steps().stream().mapToDouble(StepTime::seconds).sum();
        ObjectNode node = NODES.objectNode().put("formula", UsefulWork.FORMULA).put("useful_flops", run.usefulFlops());
        return number(node, "useful_gflops_per_second", run.usefulFlops() / seconds / 1e9);
    }

    private static ObjectNode sound(SoundReport sound) {
        ObjectNode node = NODES.objectNode().put("peak", sound.peak()).put("rms", sound.rms())
                .put("full_scale_samples", sound.fullScale()).put("full_scale_share", sound.fullScaleShare())
                .put("clicks", sound.clicks());
        return number(node, "loudness_lufs", sound.loudnessLufs());
    }

    private static ObjectNode number(ObjectNode node, String key, double value) {
        return Double.isFinite(value) ? node.put(key, value) : node.putNull(key);
    }

    private static ArrayNode floats(List<Float> values) {
        ArrayNode array = NODES.arrayNode();
        values.forEach(array::add);
        return array;
    }

    static ArrayNode texts(List<String> values) {
        ArrayNode array = NODES.arrayNode();
        values.forEach(array::add);
        return array;
    }
}
