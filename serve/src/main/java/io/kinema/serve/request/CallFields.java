package io.kinema.serve.request;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kinema.serve.problem.Problem;
import io.kinema.serve.problem.ProblemKind;
import java.math.BigDecimal;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.stream.Collectors;

/** The fields of one call under our own names; knows by which name the client gave each. */
final class CallFields {
    /** @param name as the client wrote it */
    private record Given(String name, JsonNode value) {
    }

    private static final int LONGEST_SHOWN = 60;
    private final Map<Field, Given> given = new EnumMap<>(Field.class);

    private CallFields() {
    }

    /** @throws Problem when a field is unknown or given twice with different values */
    static CallFields of(ObjectNode body) {
        CallFields fields = new CallFields();
        fields.addAll(body, "");
        fields.object(Field.EXTRA).ifPresent(extra -> fields.addAll(extra, fields.name(Field.EXTRA) + "."));
        fields.object(Field.TARGET).ifPresent(target -> fields.addAll(target, fields.name(Field.TARGET) + "."));
        return fields;
    }

    private void addAll(ObjectNode object, String prefix) {
        object.properties().forEach(property -> add(prefix + property.getKey(), property.getKey(), property.getValue()));
    }

    private void add(String name, String key, JsonNode value) {
        Field field = Field.named(key).orElseThrow(() -> Problem.invalid(Problem.printable(name, LONGEST_SHOWN), "an unknown field",
                "expected one of " + Field.allNames().collect(Collectors.joining(", "))));
        if (value.isNull()) {
            return;
        }
        Given before = given.putIfAbsent(field, new Given(name, value));
        if (before != null && !before.value().equals(value)) {
            throw Problem.invalid(name, shown(value) + ", which contradicts " + before.name() + " " + shown(before.value()),
                    "expected one of them, or both alike");
        }
    }

    boolean has(Field field) {
        return given.containsKey(field);
    }

    /** The name by which the client gave the field; ours when it did not. */
    String name(Field field) {
        return has(field) ? given.get(field).name() : field.label();
    }

    Optional<JsonNode> value(Field field) {
        return Optional.ofNullable(given.get(field)).map(Given::value);
    }

    Optional<ObjectNode> object(Field field) {
        return value(field).map(value -> {
            if (value instanceof ObjectNode object) {
                return object;
            }
            throw wrong(field, "expected a JSON object");
        });
    }

    /** Text; a number where a client wrote one. */
    Optional<String> text(Field field) {
        return value(field).map(value -> {
            if (value.isTextual() || value.isNumber()) {
                return value.asText();
            }
            throw wrong(field, "expected text");
        });
    }

    OptionalInt integer(Field field) {
        OptionalLong value = longer(field);
        if (value.isPresent() && value.getAsLong() != (int) value.getAsLong()) {
            throw wrong(field, "expected a whole number");
        }
        return value.isPresent() ? OptionalInt.of((int) value.getAsLong()) : OptionalInt.empty();
    }

    OptionalLong longer(Field field) {
        Optional<BigDecimal> value = decimal(field, "expected a whole number");
        if (value.isEmpty()) {
            return OptionalLong.empty();
        }
        BigDecimal number = value.get();
        // The scale is judged first: spelling 1e999999999 out would take a gigabyte.
        if (number.precision() - number.scale() > 19 || number.scale() > 64) {
            throw wrong(field, "expected a whole number");
        }
        try {
            return OptionalLong.of(number.longValueExact());
        } catch (ArithmeticException e) {
            throw wrong(field, "expected a whole number");
        }
    }

    OptionalDouble number(Field field) {
        Optional<BigDecimal> value = decimal(field, "expected a number");
        if (value.isEmpty()) {
            return OptionalDouble.empty();
        }
        double number = value.get().doubleValue();
        if (!Double.isFinite(number)) {
            throw wrong(field, "expected a number");
        }
        return OptionalDouble.of(number);
    }

    Optional<Boolean> flag(Field field) {
        return value(field).map(value -> {
            if (value.isBoolean() || value.isTextual() && (value.asText().equals("true") || value.asText().equals("false"))) {
                return value.asBoolean();
            }
            throw wrong(field, "expected true or false");
        });
    }

    private Optional<BigDecimal> decimal(Field field, String expected) {
        return value(field).map(value -> {
            if (value.isNumber()) {
                return value.decimalValue();
            }
            // OpenAI writes seconds as text.
            if (value.isTextual() && value.asText().length() <= LONGEST_SHOWN) {
                try {
                    return new BigDecimal(value.asText().strip());
                } catch (NumberFormatException e) {
                    throw wrong(field, expected);
                }
            }
            throw wrong(field, expected);
        });
    }

    /** The refusal of a field's value. */
    Problem wrong(Field field, String expected) {
        return Problem.invalid(name(field), value(field).map(CallFields::shown).orElse("nothing"), expected);
    }

    static Problem wrong(ProblemKind kind, String name, JsonNode value, String expected) {
        return Problem.field(kind, name, shown(value), expected);
    }

    static String shown(JsonNode value) {
        return value.isPojo() ? "a file" : value.isTextual() ? "'" + Problem.printable(value.asText(), LONGEST_SHOWN) + "'"
                : value.isObject() ? "an object" : value.isArray() ? "a list of " + value.size() : Problem.printable(value.asText(), LONGEST_SHOWN);
    }
}
