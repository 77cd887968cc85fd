package io.kinema.measure.contract;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kinema.engine.BadRequestException;
import io.kinema.engine.EngineOptions;
import io.kinema.engine.EngineOptionsJson;
import io.kinema.engine.GenerateRequest;
import io.kinema.engine.GenerateRequestJson;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;
import java.util.OptionalLong;

/**
 * What a bench does: one request, one way to run it, and limits. Its JSON form is {@code kinema.bench/1}, see {@code docs/measuring.md}.
 *
 * @param name      for people
 * @param request   made once to warm up and three times to measure; one output
 * @param execution how
 * @param gates     limits
 */
public record BenchContract(String name, GenerateRequest request, EngineOptions execution, BenchGates gates) {
    /** Name and version of the JSON form. */
    public static final String SCHEMA = "kinema.bench/1";

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final long MOST_BYTES = 1 << 20;
    private static final List<String> FIELDS = List.of("schema", "name", "request", "execution", "gates");
    private static final List<String> GATES = List.of("min_tflops", "max_cv", "max_host_bytes", "max_device_bytes");

    public BenchContract {
        if (request.outputs() != 1) {
            throw new BadRequestException("outputs", "" + request.outputs(), "expected 1 in a contract, which repeats its request by itself");
        }
    }

    /** Reads a file. @throws BadRequestException when it cannot be read or is no contract, naming the file */
    public static BenchContract read(Path file) {
        if (Files.isDirectory(file)) {
            throw new BadRequestException("contract", "the folder '" + file + "'", "expected a JSON file of schema " + SCHEMA);
        }
        try {
            if (Files.size(file) > MOST_BYTES) {
                throw new BadRequestException("contract", "more than " + MOST_BYTES + " bytes", "expected a small JSON file");
            }
            JsonNode root = JSON.readTree(Files.readAllBytes(file));
            return read(root == null ? JSON.missingNode() : root);
        } catch (NoSuchFileException e) {
            throw new BadRequestException("contract", "'" + file + "', which does not exist", "expected a JSON file of schema " + SCHEMA);
        } catch (JsonProcessingException e) {
            throw new BadRequestException("contract", "'" + file + "', which is no JSON (line " + e.getLocation().getLineNr() + ", column " + e.getLocation().getColumnNr()
                    + ")", "expected a JSON file of schema " + SCHEMA);
        } catch (IOException e) {
            throw new BadRequestException("contract", "'" + file + "' (" + e.getMessage() + ")", "expected a readable JSON file of schema " + SCHEMA);
        } catch (BadRequestException e) {
            throw e.in(file);
        }
    }

    /** @throws BadRequestException when it is no contract: a field is missing, not known, or of another kind */
    public static BenchContract read(JsonNode root) {
        if (!SCHEMA.equals(root.path("schema").textValue())) {
            throw new BadRequestException("schema", root.path("schema").toString(), "expected \"" + SCHEMA + "\"");
        }
        refuseUnknown("contract", root, FIELDS);
        if (!root.path("name").isTextual()) {
            throw new BadRequestException("name", root.has("name") ? root.path("name").toString() : "nothing", "expected a text");
        }
        return new BenchContract(root.path("name").textValue(), request(root.path("request")),
                root.has("execution") ? EngineOptionsJson.read(root.path("execution")) : EngineOptions.defaults(), gates(root.path("gates")));
    }

    private static GenerateRequest request(JsonNode node) {
        if (!node.isObject()) {
            throw new BadRequestException("request", node.toString(), "expected an object with at least a prompt");
        }
        ObjectNode whole = node.deepCopy();
        if (!whole.has("schema")) {
            whole.put("schema", GenerateRequestJson.SCHEMA);
        }
        GenerateRequest request = GenerateRequestJson.read(whole);
        List<String> known = names(GenerateRequestJson.write(request));
        // A request written back has every field that was understood.
        names(whole).stream().filter(name -> !known.contains(name)).findFirst().ifPresent(name -> {
            throw new BadRequestException("request", "'" + name + "'", "expected the fields of " + GenerateRequestJson.SCHEMA);
        });
        return request;
    }

    private static BenchGates gates(JsonNode node) {
        if (!node.isMissingNode()) {
            refuseUnknown("gates", node, GATES);
        }
        return new BenchGates(number(node, "min_tflops"), number(node, "max_cv").orElse(BenchGates.PUBLISHED_CV), bytes(node, "max_host_bytes"),
                bytes(node, "max_device_bytes"));
    }

    private static OptionalDouble number(JsonNode node, String field) {
        JsonNode value = node.path(field);
        if (!value.isMissingNode() && !value.isNumber()) {
            throw new BadRequestException(field, value.toString(), "expected a number");
        }
        return value.isMissingNode() ? OptionalDouble.empty() : OptionalDouble.of(value.doubleValue());
    }

    private static OptionalLong bytes(JsonNode node, String field) {
        JsonNode value = node.path(field);
        if (!value.isMissingNode() && !(value.isIntegralNumber() && value.canConvertToLong() && value.longValue() > 0)) {
            throw new BadRequestException(field, value.toString(), "expected a number of bytes above 0");
        }
        return value.isMissingNode() ? OptionalLong.empty() : OptionalLong.of(value.longValue());
    }

    private static void refuseUnknown(String what, JsonNode node, List<String> fields) {
        if (!node.isObject()) {
            throw new BadRequestException(what, node.toString(), "expected an object");
        }
        names(node).stream().filter(name -> !fields.contains(name)).findFirst().ifPresent(name -> {
            throw new BadRequestException(what, "'" + name + "'", "expected any of " + String.join(", ", fields));
        });
    }

    private static List<String> names(JsonNode node) {
        List<String> names = new ArrayList<>();
        node.fieldNames().forEachRemaining(names::add);
        return names;
    }

    /** The same with other limits. */
    public BenchContract withGates(BenchGates others) {
        return new BenchContract(name, request, execution, others);
    }

    /** The same request in another way of running. */
    public BenchContract withExecution(EngineOptions other) {
        return new BenchContract(name, request, other, gates);
    }

    /** The JSON form. */
    public ObjectNode toJson() {
        ObjectNode root = JsonNodeFactory.instance.objectNode().put("schema", SCHEMA).put("name", name);
        root.set("request", GenerateRequestJson.write(request));
        root.set("execution", EngineOptionsJson.write(execution));
        ObjectNode limits = root.putObject("gates");
        gates.minTflops().ifPresent(value -> limits.put("min_tflops", value));
        limits.put("max_cv", gates.maxCv());
        gates.maxHostBytes().ifPresent(value -> limits.put("max_host_bytes", value));
        gates.maxDeviceBytes().ifPresent(value -> limits.put("max_device_bytes", value));
        return root;
    }

    /** What it promises, by content: the same for two files that say the same. */
    public String sha256() {
        return CanonicalJson.sha256(toJson());
    }
}
