package io.kinema.engine.record;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kinema.engine.plan.ResolvedRequest;
import java.util.List;
import java.util.SortedMap;

/**
 * Writes a {@link RunRecord} as JSON; {@code run-2.schema.json} beside this class says what may stand there. Numbers that are not finite
 * become null, since JSON has none.
 */
final class RunRecordJson {
    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;

    private RunRecordJson() {
    }

    static JsonNode of(RunRecord run) {
        ObjectNode root = NODES.objectNode();
        root.put("schema", RunRecord.SCHEMA);
        root.put("created", run.created().toString());
        root.set("session", NODES.objectNode().put("engine", run.session().engine()).put("request", run.session().request())
                .put("captured", run.session().captured()));
        root.set("request", ResolvedRequestJson.of(run.request()));
        root.set("defaults", texts(run.defaults()));
        root.set("output", output(run));
        ObjectNode model = root.putObject("model").put("name", run.model().name()).put("transformer", run.model().transformer())
                .put("sha256", run.model().sha256()).put("transformer_sha256", run.model().transformerSha256());
        model.set("transformer_encodings", texts(run.model().transformerEncodings()));
        root.set("engine", engine(run.engine()));
        root.set("host", host(run.host()));
        root.set("execution", execution(run.execution()));
        root.set("rows", NODES.objectNode().put("text", run.rows().text()).put("video", run.rows().video())
                .put("generated_video", run.rows().generatedVideo()).put("audio", run.rows().audio())
                .put("generated_audio", run.rows().generatedAudio()));
        root.set("schedule", schedule(run.schedule()));
        root.set("stages", stages(run));
        root.set("steps", WorkJson.steps(run.steps()));
        root.set("ranks", WorkJson.ranks(run.ranks()));
        root.set("work", WorkJson.total(run));
        root.set("memory", memory(run));
        root.put("kernel_compilations", run.kernelCompilations());
        root.set("fallbacks", fallbacks(run));
        root.set("sound", sound(run.sound()));
        root.set("warnings", texts(run.warnings()));
        return root;
    }

    private static ObjectNode execution(RunRecord.Execution execution) {
        ObjectNode node = NODES.objectNode().put("device", execution.device()).put("backend", execution.backend())
                .put("precision", execution.precision()).put("threads", execution.threads());
        RankJson.put(node, execution.ranks());
        execution.fp16WeightLayout().ifPresent(layout -> node.put("fp16_weight_layout", layout.label()));
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
        Installation code = engine.installation();
        ObjectNode node = NODES.objectNode().put("version", code.version()).put("sha256", code.codeSha256())
                .put("java", code.java()).put("java_sha256", code.javaSha256());
        node.set("libraries", named(engine.libraries()));
        ArrayNode files = node.putArray("native_files");
        engine.nativeFiles().forEach(file -> files.addObject().put("name", file.name()).put("sha256", file.sha256()));
        return node;
    }

    private static ObjectNode memory(RunRecord run) {
        ObjectNode scratch = NODES.objectNode();
        run.memory().scratchBytes().forEach(scratch::put);
        ObjectNode node = NODES.objectNode().put("peak_resident_bytes", run.memory().peakResidentBytes())
                .put("peak_device_bytes", run.ranks().stream().mapToLong(RankRecord::peakDeviceBytes).sum())
                .put("peak_communication_bytes", run.ranks().stream().mapToLong(RankRecord::peakCommunicationBytes).sum());
        node.set("peak_scratch_bytes", scratch);
        RunRecord.Weights weights = run.memory().weights();
        node.putObject("weights").put("offload", weights.offload()).put("host", weights.host().label()).put("host_bytes", weights.hostBytes());
        return node;
    }

    private static ArrayNode fallbacks(RunRecord run) {
        ArrayNode array = NODES.arrayNode();
        run.fallbacks().forEach(f -> array.addObject().put("what", f.what()).put("wanted", f.wanted()).put("used", f.used()).put("reason", f.reason()));
        return array;
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

    private static ObjectNode sound(SoundReport sound) {
        ObjectNode node = NODES.objectNode().put("peak", sound.peak()).put("rms", sound.rms())
                .put("full_scale_samples", sound.fullScale()).put("full_scale_share", sound.fullScaleShare())
                .put("clicks", sound.clicks());
        return number(node, "loudness_lufs", sound.loudnessLufs());
    }

    static ObjectNode number(ObjectNode node, String key, double value) {
        return Double.isFinite(value) ? node.put(key, value) : node.putNull(key);
    }

    static ObjectNode named(SortedMap<String, String> values) {
        ObjectNode node = NODES.objectNode();
        values.forEach(node::put);
        return node;
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
