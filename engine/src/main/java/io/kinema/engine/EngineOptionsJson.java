package io.kinema.engine;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kinema.compute.BackendOptions;
import io.kinema.compute.MatrixLayout;
import io.kinema.compute.Precision;
import io.kinema.compute.collective.RowReduction;
import io.kinema.model.layout.WeightLayout;
import io.kinema.model.load.HostWeights;
import io.kinema.model.load.WeightResidency;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;

/**
 * Writes and reads {@link EngineOptions} as JSON with the names of the command line's options. What is empty is left out; a field that is
 * not known is refused.
 */
public final class EngineOptionsJson {
    private static final List<String> FIELDS = List.of("model", "transformer", "transformer_layout", "device", "precision", "threads", "attention_backend",
            "attention_query_tile", "kernel_architecture", "max_device_memory", "fp16_weight_layout", "weight_offload",
            "host_weights", "resident_layers", "max_host_memory", "prepared_weights", "vae_precision", "tensor_parallel",
            "residual_sequence_parallel", "residual_reduction", "residual_reduction_memory_gib", "graph_replay");

    private EngineOptionsJson() {
    }

    /** Every option that this build has, by its name in JSON. */
    public static List<String> fields() {
        return FIELDS;
    }

    public static ObjectNode write(EngineOptions options) {
        ObjectNode node = JsonNodeFactory.instance.objectNode();
        options.model().ifPresent(value -> node.put("model", value.toString()));
        options.transformer().ifPresent(value -> node.put("transformer", value.toString()));
        options.transformerLayout().ifPresent(value -> node.put("transformer_layout", label(value)));
        node.put("device", options.device()).put("precision", options.precision().label());
        options.threads().ifPresent(value -> node.put("threads", value));
        options.backend().attention().ifPresent(value -> node.put("attention_backend", value));
        options.backend().queryTile().ifPresent(value -> node.put("attention_query_tile", value));
        options.backend().architecture().ifPresent(value -> node.put("kernel_architecture", value));
        options.backend().maxMemoryBytes().ifPresent(value -> node.put("max_device_memory", value));
        options.fp16WeightLayout().ifPresent(value -> node.put("fp16_weight_layout", value.label()));
        options.weightOffload().ifPresent(value -> node.put("weight_offload", value.label()));
        writeResidency(options.residency(), node);
        if (options.vaePrecision() != Precision.FP32) {
            node.put("vae_precision", options.vaePrecision().label());
        }
        options.graphReplay().ifPresent(value -> node.put("graph_replay", value.label()));
        writeRanks(options.ranks(), node);
        return node;
    }

    private static void writeResidency(ResidencyOptions options, ObjectNode node) {
        if (options.hostWeights() != HostWeights.MMAP) {
            node.put("host_weights", options.hostWeights().label());
        }
        options.residentLayers().ifPresent(value -> node.put("resident_layers", value));
        options.maxHostMemory().ifPresent(value -> node.put("max_host_memory", value));
        if (!options.preparedWeights().equals(PreparedWeightsOptions.DEFAULTS)) {
            node.put("prepared_weights", options.preparedWeights().text());
        }
    }

    /** @throws BadRequestException when a field is not known or of another kind than {@link #write} makes */
    public static EngineOptions read(JsonNode node) {
        return over(EngineOptions.defaults(), node);
    }

    /** {@code base} with the fields of {@code node} in place of its own. @throws BadRequestException as {@link #read} */
    public static EngineOptions over(EngineOptions base, JsonNode node) {
        if (!node.isObject()) {
            throw new BadRequestException("execution", node.toString(), "expected an object with any of " + String.join(", ", FIELDS));
        }
        List<String> names = new ArrayList<>();
        node.fieldNames().forEachRemaining(names::add);
        names.stream().filter(name -> !FIELDS.contains(name)).findFirst().ifPresent(name -> {
            throw new BadRequestException("execution", "'" + name + "'", "expected any of " + String.join(", ", FIELDS));
        });
        EngineOptions.Builder options = EngineOptions.builder();
        text(node, "model").map(Path::of).or(base::model).ifPresent(options::model);
        text(node, "transformer").map(Path::of).or(base::transformer).ifPresent(options::transformer);
        text(node, "transformer_layout").map(EngineOptionsJson::layout).or(base::transformerLayout).ifPresent(options::transformerLayout);
        options.device(text(node, "device").orElse(base.device()));
        Precision precision = text(node, "precision").map(EngineOptionsJson::precision).orElse(base.precision());
        options.precision(precision);
        text(node, "fp16_weight_layout").map(EngineOptionsJson::matrixLayout).or(() -> base.fp16WeightLayout().filter(_ -> precision == base.precision()))
                .ifPresent(options::fp16WeightLayout);
        or(integer(node, "threads"), base.threads()).ifPresent(options::threads);
        options.backend(new BackendOptions(text(node, "attention_backend").or(base.backend()::attention),
                or(integer(node, "attention_query_tile"), base.backend().queryTile()),
                or(integer(node, "kernel_architecture"), base.backend().architecture()),
                node.has("max_device_memory") ? OptionalLong.of(whole(node, "max_device_memory")) : base.backend().maxMemoryBytes()));
        options.vaePrecision(text(node, "vae_precision").map(EngineOptionsJson::precision).orElse(base.vaePrecision()));
        Optional<WeightResidency> offload = text(node, "weight_offload").map(EngineOptionsJson::offload).or(base::weightOffload);
        offload.ifPresent(options::weightOffload);
        options.residency(residency(base, offload, node));
        options.ranks(readRanks(node, base.ranks()));
        text(node, "graph_replay").map(EngineOptionsJson::replay).or(base::graphReplay).ifPresent(options::graphReplay);
        return options.build();
    }

    private static GraphReplay replay(String label) {
        return GraphReplay.labelled(label).orElseThrow(() -> new BadRequestException("graphReplay", "'" + label + "'", "expected on or off"));
    }

    /** The number of resident layers goes with layer offload. */
    private static ResidencyOptions residency(EngineOptions base, Optional<WeightResidency> offload, JsonNode node) {
        ResidencyOptions before = base.residency();
        OptionalInt layers = offload.equals(base.weightOffload()) ? before.residentLayers() : OptionalInt.empty();
        return new ResidencyOptions(text(node, "host_weights").map(EngineOptionsJson::hostWeights).orElse(before.hostWeights()),
                or(integer(node, "resident_layers"), layers),
                node.has("max_host_memory") ? OptionalLong.of(whole(node, "max_host_memory")) : before.maxHostMemory(),
                text(node, "prepared_weights").map(PreparedWeightsOptions::of).orElse(before.preparedWeights()));
    }

    private static HostWeights hostWeights(String label) {
        return HostWeights.labelled(label).orElseThrow(() -> new BadRequestException("hostWeights", "'" + label + "'", "expected mmap, pageable or pinned"));
    }

    /** The timeout is the embedder's, and no option. */
    private static void writeRanks(RankOptions ranks, ObjectNode node) {
        if (ranks.tensorParallel() != 1) {
            node.put("tensor_parallel", ranks.tensorParallel());
        }
        if (ranks.residual().sequenceParallel()) {
            node.put("residual_sequence_parallel", true);
        }
        if (ranks.residual().reduction() != RowReduction.Mode.NATIVE) {
            node.put("residual_reduction", ranks.residual().reduction().label());
        }
        ranks.residual().memoryBytes().ifPresent(bytes -> node.put("residual_reduction_memory_gib", ResidualOptions.gib(bytes)));
    }

    private static RankOptions readRanks(JsonNode node, RankOptions base) {
        return base.withTensorParallel(integer(node, "tensor_parallel").orElse(base.tensorParallel())).withResidual(residual(node, base.residual()));
    }

    /** The reduction goes with the sharing out of rows, and its budget with the reduction. */
    private static ResidualOptions residual(JsonNode node, ResidualOptions base) {
        boolean sharded = flag(node, "residual_sequence_parallel").orElse(base.sequenceParallel());
        RowReduction.Mode mode = text(node, "residual_reduction").map(EngineOptionsJson::reduction)
                .orElse(sharded == base.sequenceParallel() ? base.reduction() : RowReduction.Mode.NATIVE);
        OptionalLong memory = mode == base.reduction() ? base.memoryBytes() : OptionalLong.empty();
        return new ResidualOptions(sharded, mode, node.has("residual_reduction_memory_gib")
                ? OptionalLong.of(ResidualOptions.bytes(number(node, "residual_reduction_memory_gib"))) : memory);
    }

    private static RowReduction.Mode reduction(String label) {
        return RowReduction.Mode.labelled(label).orElseThrow(() -> new BadRequestException("residualReduction", "'" + label + "'", "expected native or peer"));
    }

    private static Optional<Boolean> flag(JsonNode node, String field) {
        JsonNode value = node.path(field);
        if (!value.isMissingNode() && !value.isBoolean()) {
            throw new BadRequestException(field, value.toString(), "expected true or false");
        }
        return value.isMissingNode() ? Optional.empty() : Optional.of(value.booleanValue());
    }

    private static double number(JsonNode node, String field) {
        if (!node.path(field).isNumber()) {
            throw new BadRequestException(field, node.path(field).toString(), "expected a number");
        }
        return node.path(field).doubleValue();
    }

    private static WeightResidency offload(String label) {
        return WeightResidency.labelled(label).orElseThrow(() -> new BadRequestException("weightOffload", "'" + label + "'", "expected component or layer"));
    }

    private static String label(WeightLayout layout) {
        return layout.name().toLowerCase(Locale.ROOT);
    }

    private static WeightLayout layout(String label) {
        return Arrays.stream(WeightLayout.values()).filter(layout -> label(layout).equals(label)).findFirst()
                .orElseThrow(() -> new BadRequestException("transformerLayout", "'" + label + "'", "expected original or comfyui"));
    }

    private static MatrixLayout matrixLayout(String label) {
        return MatrixLayout.labelled(label).orElseThrow(() -> new BadRequestException("fp16WeightLayout", "'" + label + "'", "expected row or column"));
    }

    private static OptionalInt or(OptionalInt given, OptionalInt base) {
        return given.isPresent() ? given : base;
    }

    private static Precision precision(String label) {
        return Precision.labelled(label).orElseThrow(() -> new BadRequestException("precision", "'" + label + "'",
                "expected " + String.join(", ", Arrays.stream(Precision.values()).map(Precision::label).toList())));
    }

    private static Optional<String> text(JsonNode node, String field) {
        JsonNode value = node.path(field);
        if (!value.isMissingNode() && !value.isTextual()) {
            throw new BadRequestException(field, value.toString(), "expected a text");
        }
        return Optional.ofNullable(value.textValue());
    }

    private static OptionalInt integer(JsonNode node, String field) {
        if (!node.has(field)) {
            return OptionalInt.empty();
        }
        long value = whole(node, field);
        if (value != (int) value) {
            throw new BadRequestException(field, "" + value, "expected a smaller number");
        }
        return OptionalInt.of((int) value);
    }

    private static long whole(JsonNode node, String field) {
        JsonNode value = node.path(field);
        if (!value.isIntegralNumber() || !value.canConvertToLong()) {
            throw new BadRequestException(field, value.toString(), "expected a whole number");
        }
        return value.longValue();
    }
}
