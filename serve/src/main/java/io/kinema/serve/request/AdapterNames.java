package io.kinema.serve.request;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kinema.engine.AdapterUse;
import io.kinema.serve.problem.Problem;
import io.kinema.serve.problem.ProblemKind;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;

/** Adapters are named as the server was told to call them; a client's path never becomes a file. */
final class AdapterNames {
    private AdapterNames() {
    }

    static List<AdapterUse> read(CallFields fields, Offer offer) {
        List<AdapterUse> uses = new ArrayList<>();
        OptionalDouble scale = fields.number(Field.ADAPTER_SCALE);
        fields.value(Field.ADAPTERS).ifPresent(value -> {
            String name = fields.name(Field.ADAPTERS);
            if (!value.isArray()) {
                uses.add(one(name, value, scale, offer));
            }
            for (int i = 0; value.isArray() && i < value.size(); i++) {
                uses.add(one(name + "[" + i + "]", value.get(i), scale, offer));
            }
        });
        if (scale.isPresent() && uses.size() != 1) {
            throw fields.wrong(Field.ADAPTER_SCALE, "expected it with exactly one adapter");
        }
        return uses;
    }

    private static AdapterUse one(String field, JsonNode value, OptionalDouble scale, Offer offer) {
        if (value.isTextual()) {
            AdapterUse use = named(field, value, offer);
            return scale.isPresent() ? use.scaled(scale.getAsDouble()) : use;
        }
        if (!(value instanceof ObjectNode object)) {
            throw CallFields.wrong(ProblemKind.INVALID, field, value, "expected a name, or an object with name and scale");
        }
        object.fieldNames().forEachRemaining(key -> {
            if (!List.of("name", "path", "local_path", "scale", "int_id").contains(key)) {
                throw Problem.invalid(field + "." + Problem.printable(key, 40), "an unknown field", "expected name and scale");
            }
        });
        JsonNode name = object.hasNonNull("name") ? object.get("name") : object.hasNonNull("path") ? object.get("path") : object.path("local_path");
        AdapterUse use = named(field + ".name", name, offer);
        JsonNode own = object.path("scale");
        if (own.isMissingNode() || own.isNull()) {
            return scale.isPresent() ? use.scaled(scale.getAsDouble()) : use;
        }
        if (!own.isNumber() || !Double.isFinite(own.doubleValue())) {
            throw CallFields.wrong(ProblemKind.INVALID, field + ".scale", own, "expected a number");
        }
        if (scale.isPresent() && scale.getAsDouble() != own.doubleValue()) {
            throw CallFields.wrong(ProblemKind.INVALID, field + ".scale", own, "expected the same as the adapter's scale beside it, or one of them");
        }
        return use.scaled(own.doubleValue());
    }

    private static AdapterUse named(String field, JsonNode name, Offer offer) {
        AdapterUse use = offer.adapters().get(name.asText(""));
        if (use == null) {
            throw CallFields.wrong(ProblemKind.INVALID, field, name, offer.adapters().isEmpty() ? "expected none: this server offers no adapters"
                    : "expected one of " + String.join(", ", offer.adapters().keySet()));
        }
        return use;
    }
}
