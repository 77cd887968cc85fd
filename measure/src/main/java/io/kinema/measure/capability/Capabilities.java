package io.kinema.measure.capability;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kinema.compute.AttentionOps;
import io.kinema.compute.MatrixLayout;
import io.kinema.compute.Precision;
import io.kinema.compute.Weight;
import io.kinema.engine.EngineOptionsJson;
import io.kinema.engine.GenerateRequest;
import io.kinema.engine.Reference;
import io.kinema.engine.Task;
import io.kinema.engine.record.EngineVersion;
import io.kinema.media.MediaFacts;
import io.kinema.model.adapter.WeightEdit;
import io.kinema.model.layout.WeightLayout;
import java.lang.reflect.Method;
import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/**
 * What this installation can run, read off the code that would run it: the providers of devices, the plans, the sealed kinds of weights, the
 * operations of the backend interface, the options that the engine reads. Opens no device and loads no model.
 *
 * @param all in the order of their groups
 */
public record Capabilities(List<Capability> all) {
    /** Name and version of the JSON form. */
    public static final String SCHEMA = "kinema.capabilities/1";

    /** What front ends ask for beside the options that there are: the names that these options have where a build has them. */
    private static final List<String> ASKED_OPTIONS = List.of("tensor_parallel", "residual_sequence_parallel", "residual_reduction", "weight_offload",
            "host_weights", "max_host_memory");
    private static final List<String> ASKED_REQUESTS = List.of("adapters", "references", "cache", "quality");

    public Capabilities {
        all = List.copyOf(all);
    }

    /** Of this installation on this machine. */
    public static Capabilities here() {
        List<Capability> all = new ArrayList<>(BackendCapabilities.all());
        Arrays.stream(Precision.values()).forEach(plan -> all.add(Capability.yes("precision", plan.label(), "matrix operands in " + plan.operand()
                + ", FP32 accumulation and residual stream")));
        weights(all);
        attention(all);
        options(all);
        requests(all);
        media(all);
        return new Capabilities(all);
    }

    private static void weights(List<Capability> all) {
        for (Class<?> kind : Weight.class.getPermittedSubclasses()) {
            all.add(Capability.yes("weights", key(kind.getSimpleName().replaceAll("Weight$", "")), "a kind of matrix that every backend multiplies by"));
        }
        Arrays.stream(MatrixLayout.values()).forEach(layout -> all.add(Capability.yes("fp16_weight_layout", layout.label(), "with fp16-fp32res")));
        Arrays.stream(WeightLayout.values()).filter(layout -> layout != WeightLayout.EITHER)
                .forEach(layout -> all.add(Capability.yes("weight_layout", layout.name().toLowerCase(Locale.ROOT), "read as it is")));
    }

    /** Kinds of attention are operations of the backend interface. */
    private static void attention(List<Capability> all) {
        List<String> operations = Arrays.stream(AttentionOps.class.getMethods()).map(Method::getName).distinct().toList();
        boolean dense = operations.contains("attention");
        all.add(new Capability("attention", "dense", dense, dense ? "an operation of every backend" : "no operation of the backends"));
        boolean sparse = operations.stream().anyMatch(name -> name.toLowerCase(Locale.ROOT).contains("sparse"));
        all.add(new Capability("attention", "block_sparse", sparse, sparse ? "an operation of every backend" : "no operation of this build's backends"));
    }

    private static void options(List<Capability> all) {
        EngineOptionsJson.fields().forEach(name -> all.add(Capability.yes("option", name, "read by the engine")));
        ASKED_OPTIONS.stream().filter(name -> !EngineOptionsJson.fields().contains(name))
                .forEach(name -> all.add(Capability.no("option", name, "this build's engine has no such option")));
    }

    private static void requests(List<Capability> all) {
        Arrays.stream(Task.values()).forEach(task -> all.add(Capability.yes("task", task.label(), "made by the engine")));
        List<String> fields = Arrays.stream(GenerateRequest.class.getRecordComponents()).map(RecordComponent::getName).toList();
        ASKED_REQUESTS.forEach(name -> all.add(fields.contains(name) ? Capability.yes("request", name, "a field of requests")
                : Capability.no("request", name, "this build's requests have no such field")));
        Stream.of(WeightEdit.Kind.values()).forEach(kind -> all.add(Capability.yes("adapter_edit", key(kind.name()), "fused when the transformer is loaded")));
        for (Class<?> kind : Reference.class.isSealed() ? Reference.class.getPermittedSubclasses() : new Class<?>[0]) {
            all.add(Capability.yes("reference", key(kind.getSimpleName()), "a kind of reference"));
        }
    }

    private static void media(List<Capability> all) {
        try {
            MediaFacts facts = MediaFacts.read();
            all.add(facts.missing().isEmpty() ? Capability.yes("media", "mp4", facts.videoEncoder() + " and " + facts.audioEncoder() + " of FFmpeg " + facts.version())
                    : Capability.no("media", "mp4", "this FFmpeg lacks " + String.join(", ", facts.missing())));
        } catch (IllegalStateException | LinkageError e) {
            all.add(Capability.no("media", "mp4", String.valueOf(e.getMessage())));
        }
    }

    private static String key(String name) {
        return name.replaceAll("([a-z0-9])([A-Z])", "$1_$2").toLowerCase(Locale.ROOT);
    }

    /** The JSON form: groups, and in each name an object with {@code available} and {@code reason}. */
    public ObjectNode toJson() {
        ObjectNode root = JsonNodeFactory.instance.objectNode().put("schema", SCHEMA).put("version", EngineVersion.VERSION);
        ObjectNode groups = root.putObject("capabilities");
        all.forEach(one -> groups.withObjectProperty(one.group()).putObject(one.name()).put("available", one.available()).put("reason", one.reason()));
        return root;
    }
}
