package io.kinema.weights.prepared;

import com.fasterxml.jackson.core.JsonFactoryBuilder;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kinema.weights.BadWeightsException;
import io.kinema.weights.DType;
import io.kinema.weights.Shape;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * What an entry's file of weights holds. Tensors lie one after the other, each at a multiple of {@value #ALIGNMENT} bytes, so that the
 * spans from one to the next cover the file.
 *
 * @param key     text of the {@link PreparedKey}
 * @param bytes   of the file
 * @param tensors in the order of the file
 */
public record PreparedManifest(String key, long bytes, List<Tensor> tensors) {
    /** Counts changes of the files' format; part of every key. */
    static final int FORMAT = 1;
    static final int ALIGNMENT = 256;
    /** Largest manifest that is read. */
    static final int LARGEST = 1 << 26;
    private static final int MOST_AXES = 8;
    private static final Set<String> FIELDS = Set.of("format", "key", "bytes", "tensors");
    private static final Set<String> TENSOR_FIELDS = Set.of("name", "dtype", "shape", "offset", "sha256");
    private static final ObjectMapper JSON = new ObjectMapper(new JsonFactoryBuilder().enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .streamReadConstraints(StreamReadConstraints.builder().maxNestingDepth(16).maxNumberLength(64).build()).build())
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);

    /**
     * @param name   unique in the entry
     * @param dtype  of its elements
     * @param shape  sizes, outermost first
     * @param offset of its first byte in the file
     * @param sha256 hex, of its bytes and the zeros up to the next tensor or the end of the file
     */
    public record Tensor(String name, DType dtype, Shape shape, long offset, String sha256) {
        long size() {
            return shape.elements() * dtype.bytes();
        }
    }

    public PreparedManifest {
        tensors = List.copyOf(tensors);
    }

    /** The next offset at or after {@code at} where a tensor may begin. */
    static long aligned(long at) {
        return (at + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }

    /** Bytes of the file from tensor {@code i} up to the next. */
    long span(int i) {
        return (i + 1 < tensors.size() ? tensors.get(i + 1).offset() : bytes) - tensors.get(i).offset();
    }

    /** The manifest as a file. */
    public byte[] toBytes() {
        ObjectNode root = JsonNodeFactory.instance.objectNode().put("format", FORMAT).put("key", key).put("bytes", bytes);
        ArrayNode list = root.putArray("tensors");
        for (Tensor tensor : tensors) {
            ObjectNode node = list.addObject().put("name", tensor.name()).put("dtype", tensor.dtype().name());
            ArrayNode shape = node.putArray("shape");
            for (long dim : tensor.shape().toArray()) {
                shape.add(dim);
            }
            node.put("offset", tensor.offset()).put("sha256", tensor.sha256());
        }
        return root.toString().getBytes(StandardCharsets.UTF_8);
    }

    /** @throws BadWeightsException when a rule is broken: it is not what {@link #toBytes} writes */
    public static PreparedManifest parse(byte[] bytes) {
        require(bytes.length <= LARGEST, "it has " + bytes.length + " bytes, expected at most " + LARGEST);
        JsonNode root = read(bytes);
        requireFields(root, FIELDS);
        require(whole(root, "format") == FORMAT, "format is " + root.path("format") + ", expected " + FORMAT);
        require(root.path("tensors").isArray(), "tensors is no list");
        List<Tensor> tensors = new ArrayList<>();
        root.path("tensors").forEach(node -> tensors.add(tensor(node)));
        PreparedManifest manifest = new PreparedManifest(text(root, "key"), whole(root, "bytes"), tensors);
        manifest.requireSpans();
        return manifest;
    }

    static JsonNode read(byte[] bytes) {
        try {
            return JSON.readTree(bytes);
        } catch (JsonProcessingException e) {
            throw broken("it is not JSON, or cut off");
        } catch (IOException e) {
            throw broken("it is not text (" + e.getMessage() + ")");
        }
    }

    static void requireFields(JsonNode node, Set<String> fields) {
        Set<String> found = new HashSet<>();
        node.fieldNames().forEachRemaining(found::add);
        require(node.isObject() && found.equals(fields), "got the fields " + found + ", expected " + fields);
    }

    static long whole(JsonNode node, String field) {
        JsonNode value = node.path(field);
        require(value.isIntegralNumber() && value.canConvertToLong() && value.longValue() >= 0, field + " is " + value + ", expected a whole number from 0");
        return value.longValue();
    }

    static String text(JsonNode node, String field) {
        require(node.path(field).isTextual(), field + " is " + node.path(field) + ", expected a text");
        return node.path(field).textValue();
    }

    static String sha256(JsonNode node, String field) {
        String text = text(node, field);
        require(Sha256.isHex(text), field + " is " + text + ", expected a SHA-256 in hexadecimal");
        return text;
    }

    private static Tensor tensor(JsonNode node) {
        requireFields(node, TENSOR_FIELDS);
        String name = text(node, "name");
        DType dtype = DType.named(text(node, "dtype")).orElseThrow(() -> broken("dtype of " + name + " is " + node.path("dtype") + ", expected one of safetensors"));
        return new Tensor(name, dtype, shape(name, node.path("shape")), whole(node, "offset"), sha256(node, "sha256"));
    }

    private static Shape shape(String name, JsonNode node) {
        require(node.isArray() && node.size() <= MOST_AXES, "shape of " + name + " is " + node + ", expected at most " + MOST_AXES + " sizes");
        long[] dims = new long[node.size()];
        for (int i = 0; i < dims.length; i++) {
            require(node.get(i).isIntegralNumber() && node.get(i).canConvertToLong(), "shape of " + name + " is " + node + ", expected whole numbers");
            dims[i] = node.get(i).longValue();
        }
        try {
            return Shape.of(dims);
        } catch (IllegalArgumentException e) {
            throw broken("tensor " + name + ": " + e.getMessage());
        }
    }

    private void requireSpans() {
        Set<String> names = new HashSet<>();
        long at = 0;
        for (int i = 0; i < tensors.size(); i++) {
            Tensor tensor = tensors.get(i);
            require(names.add(tensor.name()), "tensor " + tensor.name() + " is there twice");
            require(tensor.offset() == at, "tensor " + tensor.name() + " begins at " + tensor.offset() + ", expected " + at);
            // Compared by division: a product of untrusted sizes might not fit.
            require(tensor.shape().elements() <= (bytes - at) / tensor.dtype().bytes(), "tensor " + tensor.name() + " reaches past the end of the file");
            at = aligned(at + tensor.size());
        }
        require(at == bytes, "the file has " + bytes + " bytes, expected " + at);
    }

    private static void require(boolean holds, String otherwise) {
        if (!holds) {
            throw broken(otherwise);
        }
    }

    static BadWeightsException broken(String what) {
        return new BadWeightsException("manifest of prepared weights: " + what + "; the entry is damaged and will be built again");
    }
}
