package io.kinema.engine.verify;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.MissingNode;
import io.kinema.engine.BadRequestException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;

/**
 * A golden case: {@code case.json}, read and checked against format 1. Nothing else is opened. A check that is not of the
 * format is kept with the reason: it must not hide the others.
 *
 * @param folder    where it lies; every path in it is relative to this
 * @param name      {@code case}, for example {@code transformer/t2va}
 * @param component the topic
 * @param weights   the model or component folder as the case writes it, empty where no model runs
 * @param checks    what to compute and compare, at least one
 * @param root      the whole document, for parts that only one component has
 */
record CaseFile(Path folder, String name, String component, Optional<String> weights, List<Entry> checks, JsonNode root) {
    static final String FILE = "case.json";
    private static final int FORMAT = 1;
    private static final long LARGEST = 256L << 20;
    private static final ObjectMapper MAPPER = new ObjectMapper(JsonFactory.builder()
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .streamReadConstraints(StreamReadConstraints.builder().maxNestingDepth(64).build()).build());

    /** A check as it was found. */
    sealed interface Entry permits Check, Malformed {
        /** Position in the file, from 1. */
        int number();

        /** Op and name, for messages. */
        String label();
    }

    /** A check that cannot be run. @param reason why: name, got, expected */
    record Malformed(int number, String label, String reason) implements Entry {
    }

    /**
     * One operation with its expectations.
     *
     * @param number    position in the file, from 1
     * @param label     op and name, for messages
     * @param op        what to compute
     * @param args      arguments, a missing node when there are none
     * @param precision where a model runs: {@code fp32}, {@code bf16}, {@code fp16_weights_fp32_math}
     * @param inputs    argument to {@code file#tensor} or a picture's file name
     * @param outputs   expected tensors
     * @param value     expected plain value; a null node where the reference refuses
     * @param stages    named intermediates
     */
    record Check(int number, String label, String op, JsonNode args, Optional<String> precision, Map<String, String> inputs,
                 List<Expected> outputs, Optional<JsonNode> value, SequencedMap<String, String> stages) implements Entry {
        /** True where the reference refuses the arguments. */
        boolean refusal() {
            return value.filter(JsonNode::isNull).isPresent();
        }
    }

    /**
     * One expected tensor.
     *
     * @param name   result's name; empty for an operation's only result; a position in draw order for a list
     * @param at     {@code file#tensor}
     * @param metric distance
     * @param limit  most that is allowed, 0 or more
     * @param select what of the computed result is kept
     */
    record Expected(String name, String at, Metric metric, double limit, Selection select) {
    }

    /** @throws BadRequestException when the file is absent, no JSON or no case of the format; wrong checks are {@link Malformed} */
    static CaseFile read(Path folder) {
        Path file = folder.resolve(FILE);
        JsonNode root = parse(file);
        if (!root.path("format").isIntegralNumber() || root.path("format").asLong() != FORMAT) {
            throw bad(file, "format", root.path("format").toString(), "expected " + FORMAT);
        }
        JsonNode list = root.path("checks");
        if (!list.isArray() || list.isEmpty()) {
            throw bad(file, "checks", list.getNodeType().toString(), "expected a list with at least one check");
        }
        List<Entry> checks = new ArrayList<>();
        for (JsonNode node : list) {
            checks.add(entry(file, checks.size() + 1, node));
        }
        Optional<String> weights = Optional.of(root.path("weights")).filter(JsonNode::isTextual).map(JsonNode::asText);
        return new CaseFile(folder, text(file, root, "case"), text(file, root, "component"), weights, List.copyOf(checks), root);
    }

    private static JsonNode parse(Path file) {
        try {
            if (Files.size(file) > LARGEST) {
                throw bad(file, "size", Files.size(file) + " bytes", "expected at most " + LARGEST);
            }
            JsonNode root = MAPPER.readTree(file.toFile());
            if (!root.isObject()) {
                throw bad(file, "content", root.getNodeType().toString(), "expected a JSON object");
            }
            return root;
        } catch (JacksonException e) {
            throw bad(file, "content", "no valid JSON (" + e.getOriginalMessage() + ")", "expected a golden case");
        } catch (IOException e) {
            throw bad(file, "file", e.getClass().getSimpleName(), "expected a readable " + FILE);
        }
    }

    private static Entry entry(Path file, int number, JsonNode node) {
        String op = node.path("op").asText("check");
        String label = node.has("name") ? op + " " + node.get("name").asText() : op;
        try {
            return check(file + " check " + number, number, label, node);
        } catch (BadRequestException e) {
            return new Malformed(number, label, e.getMessage());
        }
    }

    private static Check check(String where, int number, String label, JsonNode node) {
        String op = text(where, node, "op");
        Optional<JsonNode> value = node.has("value") ? Optional.of(node.get("value")) : Optional.empty();
        List<Expected> outputs = outputs(where, node.path("out"));
        if (outputs.isEmpty() && value.isEmpty()) {
            throw new BadRequestException(where, "neither out nor value", "expected something to compare with");
        }
        return new Check(number, label, op, node.has("args") ? node.get("args") : MissingNode.getInstance(),
                Optional.of(node.path("precision")).filter(JsonNode::isTextual).map(JsonNode::asText),
                texts(where + " in", node.path("in")), outputs, value, texts(where + " stages", node.path("stages")));
    }

    private static List<Expected> outputs(String where, JsonNode out) {
        List<Expected> list = new ArrayList<>();
        if (out.isArray()) {
            for (JsonNode entry : out) {
                list.add(expected(where, "" + list.size(), entry));
            }
        } else if (out.path("at").isTextual()) {
            list.add(expected(where, "", out));
        } else if (!out.isMissingNode() && !out.isNull()) {
            out.properties().forEach(e -> list.add(expected(where + " " + e.getKey(), e.getKey(), e.getValue())));
        }
        return List.copyOf(list);
    }

    private static Expected expected(String where, String name, JsonNode entry) {
        String label = entry.path("metric").asText();
        Metric metric = Metric.labelled(label).orElseThrow(() -> new BadRequestException(where + " metric", label,
                "expected exact, abs, rel_l2 or u8_levels"));
        if (!entry.path("at").isTextual() || !entry.path("limit").isNumber()) {
            throw new BadRequestException(where, entry.toString(), "expected at (file#tensor), metric and limit");
        }
        double limit = entry.get("limit").asDouble();
        if (!(limit >= 0 && Double.isFinite(limit))) {
            throw new BadRequestException(where + " limit", entry.get("limit").toString(), "expected 0 or a positive number");
        }
        return new Expected(name, entry.get("at").asText(), metric, limit, Selection.read(entry.path("select"), where));
    }

    private static SequencedMap<String, String> texts(String where, JsonNode object) {
        SequencedMap<String, String> map = new LinkedHashMap<>();
        object.properties().forEach(e -> {
            if (!e.getValue().isTextual()) {
                throw new BadRequestException(where + " " + e.getKey(), e.getValue().toString(), "expected file#tensor or a file name");
            }
            map.put(e.getKey(), e.getValue().asText());
        });
        return map;
    }

    private static String text(Object where, JsonNode node, String key) {
        if (!node.path(key).isTextual()) {
            throw new BadRequestException(where + " " + key, node.path(key).isMissingNode() ? "nothing" : node.path(key).toString(), "expected text");
        }
        return node.get(key).asText();
    }

    private static BadRequestException bad(Path file, String field, String got, String allowed) {
        return new BadRequestException(file + " " + field, got, allowed);
    }
}
