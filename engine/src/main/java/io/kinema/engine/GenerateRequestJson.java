package io.kinema.engine;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kinema.model.adapter.Alpha;
import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;

/**
 * Writes and reads a {@link GenerateRequest} as JSON, value for value, for programs that keep or pass on requests. What is empty is
 * left out. A document that a later version wrote is refused, never half understood.
 */
public final class GenerateRequestJson {
    /** What {@code schema} says. */
    public static final String SCHEMA = "kinema.generate/1";

    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;

    private GenerateRequestJson() {
    }

    public static ObjectNode write(GenerateRequest request) {
        ObjectNode node = NODES.objectNode().put("schema", SCHEMA).put("prompt", request.prompt());
        request.task().ifPresent(value -> node.put("task", value.label()));
        request.image().ifPresent(value -> node.put("image", value.toString()));
        request.lastImage().ifPresent(value -> node.put("last_image", value.toString()));
        ArrayNode references = node.putArray("references");
        request.references().forEach(value -> references.addObject().put("kind", value.kind()).put("file", value.file().toString()));
        request.width().ifPresent(value -> node.put("width", value));
        request.height().ifPresent(value -> node.put("height", value));
        request.aspectRatio().ifPresent(value -> node.put("aspect_ratio", value.toString()));
        request.frames().ifPresent(value -> node.put("frames", value));
        request.seconds().ifPresent(value -> node.put("seconds", value));
        request.steps().ifPresent(value -> node.put("steps", value));
        request.seed().ifPresent(value -> node.put("seed", value));
        node.put("outputs", request.outputs());
        request.flowShift().ifPresent(value -> node.put("flow_shift", value));
        request.audioFlowShift().ifPresent(value -> node.put("audio_flow_shift", value));
        node.put("noise_scheme", request.noiseScheme().label()).put("strict", request.strict());
        ArrayNode adapters = node.putArray("adapters");
        for (AdapterUse use : request.adapters()) {
            ObjectNode adapter = adapters.addObject().put("file", use.file().toString()).put("scale", use.scale());
            use.alpha().ifPresent(alpha -> adapter.put("alpha", alpha.toString()));
        }
        return node;
    }

    /** @throws BadRequestException when it is no document that {@link #write} makes */
    public static GenerateRequest read(JsonNode node) {
        String schema = node.path("schema").asText();
        if (!schema.equals(SCHEMA)) {
            throw new BadRequestException("schema", "'" + schema + "'", "expected " + SCHEMA + "; read it with the version of Kinema that wrote it");
        }
        GenerateRequest.Builder request = GenerateRequest.prompt(text(node, "prompt").orElseThrow(() -> wrong("prompt", node)));
        text(node, "task").map(label -> Task.labelled(label).orElseThrow(() -> wrong("task", node))).ifPresent(request::task);
        text(node, "image").map(Path::of).ifPresent(request::image);
        text(node, "last_image").map(Path::of).ifPresent(request::lastImage);
        node.path("references").forEach(reference -> request.reference(Reference.parse(
                text(reference, "kind").orElseThrow(() -> wrong("kind", reference)) + ":" + text(reference, "file").orElseThrow(() -> wrong("file", reference)))));
        integer(node, "width").ifPresent(request::width);
        integer(node, "height").ifPresent(request::height);
        text(node, "aspect_ratio").map(AspectRatio::parse).ifPresent(request::aspectRatio);
        integer(node, "frames").ifPresent(request::frames);
        number(node, "seconds").ifPresent(request::seconds);
        integer(node, "steps").ifPresent(request::steps);
        whole(node, "seed").ifPresent(request::seed);
        integer(node, "outputs").ifPresent(request::outputs);
        number(node, "flow_shift").ifPresent(request::flowShift);
        number(node, "audio_flow_shift").ifPresent(request::audioFlowShift);
        text(node, "noise_scheme").map(label -> NoiseScheme.labelled(label).orElseThrow(() -> wrong("noise_scheme", node))).ifPresent(request::noiseScheme);
        request.strict(node.path("strict").asBoolean());
        node.path("adapters").forEach(adapter -> request.adapter(adapter(adapter)));
        return request.build();
    }

    private static AdapterUse adapter(JsonNode node) {
        Optional<Alpha> alpha = text(node, "alpha").map(value -> Alpha.parse(value).orElseThrow(() -> wrong("alpha", node)));
        return new AdapterUse(Path.of(text(node, "file").orElseThrow(() -> wrong("file", node))), number(node, "scale").orElseThrow(() -> wrong("scale", node)),
                alpha);
    }

    private static Optional<String> text(JsonNode node, String field) {
        JsonNode value = node.path(field);
        return value.isMissingNode() ? Optional.empty() : Optional.of(value).filter(JsonNode::isTextual).or(() -> {
            throw wrong(field, node);
        }).map(JsonNode::textValue);
    }

    private static OptionalInt integer(JsonNode node, String field) {
        JsonNode value = node.path(field);
        if (value.isMissingNode()) {
            return OptionalInt.empty();
        }
        if (!value.canConvertToInt() || !value.isIntegralNumber()) {
            throw wrong(field, node);
        }
        return OptionalInt.of(value.intValue());
    }

    private static OptionalLong whole(JsonNode node, String field) {
        JsonNode value = node.path(field);
        if (value.isMissingNode()) {
            return OptionalLong.empty();
        }
        if (!value.canConvertToLong() || !value.isIntegralNumber()) {
            throw wrong(field, node);
        }
        return OptionalLong.of(value.longValue());
    }

    private static OptionalDouble number(JsonNode node, String field) {
        JsonNode value = node.path(field);
        if (value.isMissingNode()) {
            return OptionalDouble.empty();
        }
        if (!value.isNumber()) {
            throw wrong(field, node);
        }
        return OptionalDouble.of(value.doubleValue());
    }

    private static BadRequestException wrong(String field, JsonNode node) {
        return new BadRequestException(field, node.path(field).toString(), "expected what GenerateRequestJson writes");
    }
}
