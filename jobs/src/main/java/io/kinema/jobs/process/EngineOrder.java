package io.kinema.jobs.process;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kinema.engine.GenerateRequest;
import io.kinema.engine.GenerateRequestJson;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Objects;

/** What the parent tells the engine process. */
public sealed interface EngineOrder {
    /**
     * Make the outputs of a request.
     *
     * @param request     names its inputs by file
     * @param folder      where output k's files go, as {@code output-k/clip.mp4} and so on; there already
     * @param steps       where the sampler's state is saved and looked for
     * @param saveEvery   steps from one saving to the next
     * @param firstOutput outputs before this one are finished
     */
    record Run(GenerateRequest request, Path folder, Path steps, int saveEvery, int firstOutput) implements EngineOrder {
        public Run {
            Objects.requireNonNull(request, "request");
            Objects.requireNonNull(folder, "folder");
            Objects.requireNonNull(steps, "steps");
        }
    }

    /** Stop as soon as possible; what is computed is not needed. */
    record Cancel() implements EngineOrder {
    }

    /** Stop as soon as the sampler's state is saved. */
    record Release() implements EngineOrder {
    }

    /** As a message. */
    default ObjectNode toJson() {
        ObjectNode node = JsonNodeFactory.instance.objectNode();
        return switch (this) {
            case Run run -> {
                node.put("type", "run").put("folder", run.folder().toString()).put("steps", run.steps().toString()).put("save_every", run.saveEvery())
                        .put("first_output", run.firstOutput()).set("request", GenerateRequestJson.write(run.request()));
                yield node;
            }
            case Cancel _ -> node.put("type", "cancel");
            case Release _ -> node.put("type", "release");
        };
    }

    /** The order that a message is. @throws IOException when it is none */
    static EngineOrder read(JsonNode node) throws IOException {
        return switch (node.path("type").asText()) {
            case "run" -> new Run(GenerateRequestJson.read(node.path("request")), Path.of(node.path("folder").asText()), Path.of(node.path("steps").asText()),
                    node.path("save_every").asInt(), node.path("first_output").asInt());
            case "cancel" -> new Cancel();
            case "release" -> new Release();
            default -> throw new IOException("engine pipe: got an order of type '" + node.path("type").asText() + "', expected run, cancel or release");
        };
    }
}
