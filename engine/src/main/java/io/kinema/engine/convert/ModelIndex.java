package io.kinema.engine.convert;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kinema.engine.Task;
import io.kinema.engine.model.Component;
import io.kinema.engine.model.ModelFolder;
import io.kinema.engine.model.OriginalPartition;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;

/** The index files of a model in either layout, made from what is known of it. */
final class ModelIndex {
    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;
    private static final Map<Component, List<String>> CLASSES = Map.of(
            Component.TEXT_ENCODER, List.of("transformers", "Qwen3VLForConditionalGeneration"), Component.TOKENIZER, List.of("transformers", "Qwen2TokenizerFast"),
            Component.PROCESSOR, List.of("transformers", "Qwen3VLProcessor"), Component.VIDEO_VAE, List.of("diffusers", "AutoencoderKLMiniMaxH3"),
            Component.AUDIO_VAE, List.of("diffusers", "AutoencoderKLMiniMaxH3Audio"), Component.TRANSFORMER, List.of("diffusers", "MiniMaxH3Transformer3DModel"),
            Component.TRANSFORMER_REF, List.of("diffusers", "MiniMaxH3Transformer3DModel"), Component.SCHEDULER, List.of("diffusers", "MiniMaxH3Scheduler"),
            Component.AUDIO_SCHEDULER, List.of("diffusers", "MiniMaxH3Scheduler"));

    private final ModelFolder model;
    private final JsonNode index;

    private ModelIndex(ModelFolder model, JsonNode index) {
        this.model = model;
        this.index = index;
    }

    static ModelIndex of(ModelFolder model) {
        return new ModelIndex(model, model.index());
    }

    /** The components that have a folder of their own: two transformers of one folder are one. */
    List<Component> distinct() {
        List<Component> list = new ArrayList<>();
        for (Component component : Component.values()) {
            boolean scheduler = component == Component.SCHEDULER || component == Component.AUDIO_SCHEDULER;
            if (model.folders().containsKey(component) && !scheduler && !(component == Component.TRANSFORMER_REF && shared())) {
                list.add(component);
            }
        }
        return list;
    }

    /** Index and schedules of the diffusers layout, by name. */
    SequencedMap<String, JsonNode> diffusers() {
        ObjectNode root = NODES.objectNode().put("_class_name", "MiniMaxH3ModularPipeline").put("_blocks_class_name", "MiniMaxH3Blocks");
        for (Component component : Component.values()) {
            boolean scheduler = component == Component.SCHEDULER || component == Component.AUDIO_SCHEDULER;
            if (scheduler || model.folders().containsKey(component)) {
                String folder = component == Component.TRANSFORMER_REF && shared() ? Component.TRANSFORMER.key() : component.key();
                List<String> named = CLASSES.get(component);
                root.putArray(component.key()).add(named.getFirst()).add(named.getLast()).add(NODES.objectNode().put("subfolder", folder));
            }
        }
        root.setAll(extras());
        SequencedMap<String, JsonNode> files = new LinkedHashMap<>();
        files.put("model_index.json", root);
        files.put("modular_model_index.json", root);
        files.put("scheduler/scheduler_config.json", scheduler(model.geometry().flowShift()));
        files.put("audio_scheduler/scheduler_config.json", scheduler(model.geometry().audioFlowShift()));
        return files;
    }

    /** The partitions whose transformer the model has. */
    List<OriginalPartition.Kind> partitions() {
        List<OriginalPartition.Kind> kinds = new ArrayList<>();
        for (OriginalPartition.Kind kind : OriginalPartition.Kind.values()) {
            if (model.folders().containsKey(kind.transformer())) {
                kinds.add(kind);
            }
        }
        return kinds;
    }

    /** A partition's index. */
    JsonNode original(OriginalPartition.Kind kind) {
        ObjectNode root = NODES.objectNode().put("_class_name", "MiniMaxH3Pipeline");
        root.putArray("text_encoder").add("transformers").add("MiniMaxH3Qwen3VLHFEncoder");
        root.putArray("tokenizer").add("transformers").add("Qwen2TokenizerFast");
        root.putArray("video_vae").add("diffusers").add("MiniMaxH3VideoVAE");
        root.putArray("audio_vae").add("diffusers").add("MiniMaxH3AudioVAE");
        root.putNull("scheduler");
        root.putArray("transformer").add("diffusers").add("MiniMaxH3DiTModel");
        if (model.folders().containsKey(Component.PROCESSOR)) {
            root.putArray("processor").add("transformers").add("Qwen3VLProcessor");
        }
        root.setAll(extras());
        ObjectNode block = root.putObject("_minimax_h3").put("schema_version", 1).put("partition", kind.label());
        kind.tasks().stream().map(Task::label).forEach(block.putArray("tasks")::add);
        block.putObject("task_aliases");
        block.putObject("sigma_shift_scales").put("video", model.geometry().flowShift()).put("audio", model.geometry().audioFlowShift());
        return root;
    }

    /** Canvas sizes and the like, which both layouts keep at the top of the index. */
    private ObjectNode extras() {
        ObjectNode extras = NODES.objectNode();
        index.properties().stream().filter(f -> !f.getKey().startsWith("_") && (f.getValue().isNumber() || f.getValue().isTextual()))
                .forEach(f -> extras.set(f.getKey(), f.getValue()));
        return extras;
    }

    private boolean shared() {
        return model.folders().containsKey(Component.TRANSFORMER)
                && model.folders().get(Component.TRANSFORMER).equals(model.folders().get(Component.TRANSFORMER_REF));
    }

    private static ObjectNode scheduler(double shift) {
        return NODES.objectNode().put("_class_name", "MiniMaxH3Scheduler").put("shift", shift);
    }
}
