package io.kinema.measure.qualify;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kinema.engine.EngineOptions;
import io.kinema.engine.EngineOptionsJson;
import io.kinema.measure.contract.CanonicalJson;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * One way of running, whatever the model's folder: engine options with the number of threads spelled out.
 *
 * @param options as {@link EngineOptionsJson} writes them, without the model
 */
record Route(ObjectNode options) {
    static Route of(EngineOptions options) {
        ObjectNode json = EngineOptionsJson.write(options);
        json.remove("model");
        if (options.device().equals("cpu") && options.threads().isEmpty()) {
            json.put("threads", Runtime.getRuntime().availableProcessors());
        }
        options.transformer().ifPresent(file -> json.put("transformer", file.toAbsolutePath().normalize().toString()));
        return new Route(json);
    }

    static Route read(JsonNode json) {
        return new Route(json.deepCopy());
    }

    /** Options that run this way on that model, and say why. */
    EngineOptions on(Optional<Path> model, String reason) {
        ObjectNode whole = options.deepCopy();
        model.ifPresent(folder -> whole.put("model", folder.toString()));
        return EngineOptionsJson.read(whole).chosenBecause(reason);
    }

    /** True when nothing is stated otherwise. */
    boolean same(JsonNode other) {
        return CanonicalJson.text(options).equals(CanonicalJson.text(other));
    }

    /** What is not as in {@code other}: {@code precision fp16-fp32res, threads 2}. */
    String beside(Route other) {
        List<String> differences = new ArrayList<>();
        options.properties().forEach(field -> {
            if (!CanonicalJson.text(field.getValue()).equals(CanonicalJson.text(other.options.path(field.getKey())))) {
                differences.add(field.getKey() + " " + field.getValue().asText());
            }
        });
        other.options.fieldNames().forEachRemaining(name -> {
            if (!options.has(name)) {
                differences.add("no " + name);
            }
        });
        return differences.isEmpty() ? "the same options" : String.join(", ", differences);
    }
}
